# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A caller that hangs up is no longer worked for.

Web frameworks let a handler run on when its caller is gone. Here a request may be an hour of paid model calls, so it is
cancelled, and with it every call that it has made to another server: as it is for calls in memory.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_STOPPING = b'{"error":{"message":"the server is stopping","type":"server_error","code":503}}'


class CancelledOnHangup:
    """An app around an app: cancels a request whose caller closes the connection.

    Args:
        app: The app within.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await _whole_body(receive)
        if body is None:
            return
        exchange = _Exchange(body, send)
        handling = asyncio.create_task(_handle(self._app, scope, exchange))
        watching = asyncio.create_task(_watch(receive, exchange))
        try:
            await asyncio.wait((handling, watching), return_when=asyncio.FIRST_COMPLETED)
            if not exchange.answered:
                handling.cancel()
            with suppress(asyncio.CancelledError):
                await handling
        except asyncio.CancelledError:
            await exchange.give_up()  # The server stops, and will not wait any longer.
        finally:
            handling.cancel()
            watching.cancel()


class _Exchange:
    """A request whose body is read already, and whether its answer is complete."""

    __slots__ = ("_body", "_send", "answered", "begun", "hung_up")

    def __init__(self, body: bytes, send: Send) -> None:
        self._body: bytes | None = body
        self._send = send
        self.begun = False
        self.answered = False
        self.hung_up = asyncio.Event()

    async def receive(self) -> Message:
        if self._body is None:
            await self.hung_up.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        self.begun = True
        await self._send(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.answered = True

    async def give_up(self) -> None:
        if not self.begun:
            headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
            await self._send({"type": "http.response.start", "status": 503, "headers": headers})
            await self._send({"type": "http.response.body", "body": _STOPPING, "more_body": False})


async def _whole_body(receive: Receive) -> bytes | None:
    """The body of a request, or None if the caller was gone before it was complete."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


async def _handle(app: ASGIApp, scope: Scope, exchange: _Exchange) -> None:
    await app(scope, exchange.receive, exchange.send)


async def _watch(receive: Receive, exchange: _Exchange) -> None:
    """Returns when the caller hangs up, or has its answer."""
    while (await receive())["type"] != "http.disconnect":
        pass
    exchange.hung_up.set()
