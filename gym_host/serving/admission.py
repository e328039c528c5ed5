# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Who may ask a server on a port, and how much they may send.

A token is asked for if the environment variable `GYM_SERVER_TOKEN` is set where the servers are started. It is an environment
variable and no setting, so that it stands in no configuration, no file and no process argument; whoever starts a server hands
it on by what processes inherit, so a server asks for it under any host. Our calls between servers carry it; those of NVIDIA's
host do not, so that it has to stay unset there. Without it nothing changes.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from contextlib import suppress

import orjson
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gym_host.errors import ConfigError

TOKEN_VARIABLE = "GYM_SERVER_TOKEN"

MIB = 2**20
MANY_ROWS = 16
"""How much larger a body may be that holds the rows of a whole run."""

_OPEN_PATHS = frozenset({"/livez"})
_PATHS_OF_MANY_ROWS = frozenset({"/aggregate_metrics", "/compare"})
_SHORTEST_TOKEN = 16
_LINGER_SECONDS = 2.0


def server_token(environ: Mapping[str, str]) -> str | None:
    """The token that servers ask for and calls carry; None if there is none.

    Raises:
        ConfigError: It is too short, or no header can hold it. It is not shown.
    """
    token = environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        return None
    if len(token) < _SHORTEST_TOKEN or not all("!" <= letter <= "~" for letter in token):
        raise ConfigError(
            f"the token must be at least {_SHORTEST_TOKEN} letters, digits and signs, without blanks",
            where=f"environment variable {TOKEN_VARIABLE}",
            mend='make one: python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    return token


def authorization(token: str | None) -> dict[str, str]:
    """The header that shows a token."""
    return {"authorization": f"Bearer {token}"} if token else {}


class Admission:
    """An app around an app: asks for the token, and refuses bodies that are too large while they come in.

    Args:
        app: The app within.
        token: What callers must show; None lets everybody in.
        largest_body: Bytes of a body at the most; the rows of a whole run may be `MANY_ROWS` times as large.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, largest_body: int) -> None:
        self._app, self._token, self._largest = app, token, largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refusal = self._refusal(scope["path"], headers.get(b"authorization"))
        if refusal is not None:
            await _refuse(receive, send, 401, "unauthorized", refusal)
            return
        largest = self._largest * (MANY_ROWS if scope["path"] in _PATHS_OF_MANY_ROWS else 1)
        body = _CountedBody(receive, largest)
        answer = _Answer(send, body)
        announced = headers.get(b"content-length", b"")
        if announced.isdigit() and int(announced) > largest:
            body.too_large = True
        else:
            with suppress(_TooLarge):
                await self._app(scope, body.receive, answer.send)
        if body.too_large and not answer.begun:
            text = f"the body is larger than {largest / MIB:g} MiB; the server's setting `max_body_mib` says how large one may be"
            await _refuse(receive, send, 413, "request_too_large", text)

    def _refusal(self, path: str, shown: bytes | None) -> str | None:
        """Why a caller is not let in."""
        if self._token is None or path in _OPEN_PATHS:
            return None
        if shown is None:
            return (
                "this server asks for a token and the request has none: send the header `Authorization: Bearer TOKEN`, with the "
                f"{TOKEN_VARIABLE} that the servers were started with"
            )
        scheme, _, given = shown.partition(b" ")
        if scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token.encode()):
            return None
        return f"the token of the request is not that of this server: {TOKEN_VARIABLE} was another where the servers were started"


class _TooLarge(Exception):
    """A body has grown past what is let in."""


class _CountedBody:
    """The body of a request, as long as it is not too large."""

    def __init__(self, receive: Receive, largest: int) -> None:
        self._receive, self._left = receive, largest
        self.too_large = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left -= len(message.get("body") or b"")
        if self._left < 0:
            self.too_large = True
            raise _TooLarge
        return message


class _Answer:
    """The answer of the app within; what it says of a body that it was not given is not sent."""

    def __init__(self, send: Send, body: _CountedBody) -> None:
        self._send, self._body = send, body
        self.begun = False

    async def send(self, message: Message) -> None:
        if self._body.too_large and not self.begun:
            return
        self.begun = True
        await self._send(message)


async def _refuse(receive: Receive, send: Send, status: int, kind: str, text: str) -> None:
    """Answers with an error, whatever the caller is still sending."""
    content = orjson.dumps({"error": {"message": text, "type": kind, "code": status}})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(content)).encode()),
        (b"www-authenticate", b"Bearer") if status == 401 else (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content, "more_body": True})
    # A caller that is still sending would not read the answer if the connection closed on it at once.
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            while (message := await receive())["type"] == "http.request" and message.get("more_body"):
                pass
    await send({"type": "http.response.body", "body": b"", "more_body": False})
