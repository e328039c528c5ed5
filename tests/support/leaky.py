# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An endpoint that repeats in its errors whatever secrets a request carries, as some gateways do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.models import completion


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(404, {"error": {"message": "no such page"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "/ok/" in self.path:
            text = '{"answer": "No", "reasoning": "Because."}' if "response_format" in body else "Good day."
            self._answer(200, completion(text))
            return
        seen = f"{self.path} with {dict(self.headers)} and {body}"
        error = {
            "message": f"Incorrect API key provided: {self.headers['authorization']}. You sent {seen}",
            "code": "invalid_api_key",
        }
        self._answer(401, {"error": error})

    def _answer(self, status: int, value: Any) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.send_header("x-echo", str(self.headers.get("authorization")))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: Any) -> None:
        pass


@contextmanager
def leaky_endpoint() -> Iterator[str]:
    """Serves it; host and port. Below `/ok/` requests are answered, elsewhere refused."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
