# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An app on a real port, in the event loop of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import ASGIApp

from gym_host.serving.process import listening_socket


class Server(uvicorn.Server):
    """A server that leaves the signals to the tests."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(app: ASGIApp, *, keep_alive: int = 75) -> AsyncIterator[str]:
    """Serves an app for as long as the context is open; its base URL."""
    with listening_socket("127.0.0.1", 0, where="test") as listener:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_keep_alive=keep_alive, timeout_graceful_shutdown=1, lifespan="on"
        )
        server = Server(config)
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
