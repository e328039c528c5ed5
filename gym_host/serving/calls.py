# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How a server calls another server by name: in memory within one process, or over HTTP where servers have ports.

A server cannot tell the difference: it is given a `ServerCalls` and names the instance that it wants.
"""

from __future__ import annotations

import asyncio
import io
import logging
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from types import SimpleNamespace
from typing import Any, Protocol

import aiohttp
import orjson
from starlette.types import ASGIApp, Message, Scope

from gym_host.errors import ServerError
from gym_host.serving.admission import authorization

Json = dict[str, Any]
Cookies = dict[str, str]
"""Cookies of one server by name, as it wrote their values: what it knows a caller by, such as the replica that serves them."""

logger = logging.getLogger(__name__)

_IDLE_SECONDS = 3.0  # Shorter than any server keeps an idle connection open: ours do for 75 seconds, uvicorn by itself for 5.
_STALE_SECONDS = 1.0
_LARGEST_BYTES_BODY = 2**20


class ServerCalls(Protocol):
    """Calls to server instances by name."""

    async def call(self, server: str, path: str, body: object | None = None, *, cookies: Cookies | None = None) -> Any:
        """Posts a JSON body to a server, or gets from it where there is no body.

        Args:
            server: Name of the server instance.
            path: Path of the endpoint, such as `/v1/responses`.
            body: JSON values; None for a GET.
            cookies: The caller's cookies of this server, which are sent and brought up to date; None for a call without any.

        Returns:
            The decoded JSON answer.

        Raises:
            ServerError: The server is unknown, could not be reached, or answered with a status of 400 or more.
        """
        ...


class InMemoryCalls:
    """Calls that stay within the process: the app is run in the caller's own task, so cancelling the caller cancels it too."""

    def __init__(self, apps: Mapping[str, ASGIApp] | None = None) -> None:
        self.apps: dict[str, ASGIApp] = dict(apps or {})

    async def call(self, server: str, path: str, body: object | None = None, *, cookies: Cookies | None = None) -> Any:
        app = self.apps.get(server)
        if app is None:
            raise ServerError(server, path, None, f"no server of this name is running; running are: {', '.join(self.apps)}")
        content = b"" if body is None else _written(server, path, body)
        exchange, scope = _Exchange(content), _scope(server, path, content, "GET" if body is None else "POST")
        if cookies:
            scope["headers"].append((b"cookie", _sent(cookies).encode("latin-1")))
        del content  # It may be large, and the call long: whoever has read it need not keep it.
        try:
            await app(scope, exchange.receive, exchange.send)
        except Exception as error:
            logger.exception("%s%s failed", server, path)
            raise ServerError(server, path, 500, f"{type(error).__name__}: {error}") from error
        if cookies is not None:
            for name, value in exchange.headers:
                if name == b"set-cookie":
                    with suppress(CookieError):  # One that is none is not kept.
                        _keep(cookies, SimpleCookie(value.decode("latin-1")))
        return _decoded(server, path, exchange.status, b"".join(exchange.parts))


class _Exchange:
    """One request and its answer, as ASGI messages."""

    __slots__ = ("_request", "headers", "parts", "status")

    def __init__(self, content: bytes) -> None:
        self._request: bytes | None = content
        self.status = 500
        self.headers: Iterable[tuple[bytes, bytes]] = ()
        self.parts: list[bytes] = []

    async def receive(self) -> Message:
        if self._request is None:
            # Nobody hangs up in memory: a handler that waits for a disconnect waits until it is cancelled.
            await asyncio.get_running_loop().create_future()
        content, self._request = self._request, None
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], message.get("headers", ())
        elif message["type"] == "http.response.body":
            self.parts.append(message.get("body", b""))


def _scope(server: str, path: str, content: bytes, method: str) -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (b"host", server.encode()),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
        ],
        "client": None,
        "server": (server, None),
        "state": {},
    }


class HttpCalls:
    """Calls over HTTP to servers on ports.

    A call is sent once: it may be an hour of paid work that must not be done twice. The one exception is a connection that the
    server had closed just as it was used again, which shows at once.

    Args:
        addresses: Server name -> base URL.
        timeout_seconds: Time that one call may take; model servers bound their own calls well below it.
        token: What the servers ask for, if they ask for a token.
    """

    def __init__(self, addresses: Mapping[str, str], *, timeout_seconds: float = 24 * 3600, token: str | None = None) -> None:
        self.addresses = dict(addresses)
        self._headers = {"content-type": "application/json", **authorization(token)}
        self._timeout = aiohttp.ClientTimeout(total=timeout_seconds, sock_connect=30)
        self._session: aiohttp.ClientSession | None = None

    async def call(self, server: str, path: str, body: object | None = None, *, cookies: Cookies | None = None) -> Any:
        address = self.addresses.get(server)
        if address is None:
            raise ServerError(server, path, None, "no address of this server is known")
        content = None if body is None else _written(server, path, body)
        try:
            status, answer = await self._exchange(address + path, content, cookies)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ServerError(server, path, None, f"{address} cannot be reached: {error or type(error).__name__}") from error
        return _decoded(server, path, status, answer)

    async def _exchange(self, url: str, content: bytes | None, cookies: Cookies | None) -> tuple[int, bytes]:
        if self._session is None:
            # As many connections as there are calls: who calls limits how many that is.
            self._session = self._open(aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS))
        attempt = _Attempt()
        try:
            return await _send(self._session, url, content, attempt, cookies)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not attempt.was_stale():
                raise
        async with self._open(aiohttp.TCPConnector(force_close=True)) as fresh:
            return await _send(fresh, url, content, _Attempt(), cookies)

    def _open(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_note_reuse)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),  # Cookies are the callers', of whom there are many.
            trace_configs=[tracing],
        )

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


class _Attempt:
    """One sending of a request."""

    __slots__ = ("reused_at",)

    def __init__(self) -> None:
        self.reused_at: float | None = None

    def was_stale(self) -> bool:
        """Whether a failure without an answer means that nobody has read the request.

        It does if the connection had been used before and broke at once. One that breaks later was lost with a server that may
        have been at work.
        """
        return self.reused_at is not None and time.monotonic() - self.reused_at < _STALE_SECONDS


async def _note_reuse(
    session: aiohttp.ClientSession, context: SimpleNamespace, params: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx.reused_at = time.monotonic()


async def _send(
    session: aiohttp.ClientSession, url: str, content: bytes | None, attempt: _Attempt, cookies: Cookies | None
) -> tuple[int, bytes]:
    # aiohttp wants a large body as a file.
    data = io.BytesIO(content) if content is not None and len(content) > _LARGEST_BYTES_BODY else content
    method = "GET" if content is None else "POST"
    headers = {"cookie": _sent(cookies)} if cookies else None
    async with session.request(
        method, url, data=data, headers=headers, allow_redirects=False, trace_request_ctx=attempt
    ) as response:
        if cookies is not None and "set-cookie" in response.headers:
            _keep(cookies, response.cookies)
        return response.status, await response.read()


def _sent(cookies: Cookies) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def _keep(cookies: Cookies, answered: SimpleCookie) -> None:
    """Takes over what a server sets; a cookie that it takes back, by an age of nothing, is forgotten."""
    for name, morsel in answered.items():
        if morsel["max-age"] == "0" or morsel["max-age"].startswith("-"):
            cookies.pop(name, None)
        else:
            cookies[name] = morsel.coded_value


def _written(server: str, path: str, body: object) -> bytes:
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise ServerError(server, path, 422, f"the request cannot be written as JSON: {error}") from None


def _decoded(server: str, path: str, status: int, content: bytes) -> Any:
    try:
        answer = orjson.loads(content) if content else None
    except orjson.JSONDecodeError:
        answer = None
        if status < 400:
            raise ServerError(server, path, status, f"the answer is no JSON: {content[:200]!r}") from None
    if status >= 400:
        raise ServerError(server, path, status, _message(answer, content), answer)
    return answer


def _message(answer: Any, content: bytes) -> str:
    """What a server says of an error: OpenAI's `error.message`, FastAPI's `detail`, else the start of the text."""
    if isinstance(answer, dict):
        error, detail = answer.get("error"), answer.get("detail")
        if isinstance(error, dict) and error.get("message"):
            return str(error["message"])
        if isinstance(detail, list):
            return "; ".join(_field_message(entry) for entry in detail[:3])
        if detail or error:
            return str(detail or error)
    return content[:500].decode("utf-8", "replace")


def _field_message(entry: Any) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    place = ".".join(str(part) for part in entry.get("loc", ()) if part != "body")
    return f"{place}: {entry.get('msg', 'is wrong')}" if place else str(entry.get("msg"))
