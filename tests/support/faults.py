# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How the test endpoint misbehaves: rules that say when, and one function per kind that says how.

A rule picks requests by role, turn, question or any other text, attempt and number, and by chance; the chance is fixed by the
endpoint's seed, the messages and the attempt, and never by the order in which requests come in. `tests/faults/README.md` has all
kinds and selectors in a table.

Kinds that spoil a good answer get the completion that would have been sent; kinds that break the connection write to it
themselves and then cut it.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.support.replies import share, turn_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A rule: when a request matches, the endpoint does `kind` in place of answering well.

    Attributes:
        kind: One of `KINDS`.
        probability: Share of the matching requests; which ones is fixed by seed, messages, attempt and the rule's place.
        role: Only requests to this role.
        turn: Only requests with so many assistant messages.
        contains: Only requests whose last message holds this text: for the judge, its question.
        anywhere: Only requests of which any message holds this text.
        first: Only the first so many requests that match all else.
        attempts: Only the first so many requests with the same messages, so that retries get through.
        status: For `status`.
        body: For `status`, `content`: the body or the text. For `error_in_200` and `choice_error`: the error object. For `choice`
            and `merged`: the keys that are changed.
        headers: For `status`: such as `Retry-After`.
        seconds: For `slow`: how long the answer takes. For `silence`: how long nothing is said.
        period: For `flapping`: so many requests up, then so many down. For `together`: how many there have to be.
        parameter: For `unsupported`: refused if the body holds it.
        instead: For `unsupported`: the name to use, put into the message.
    """

    kind: str
    probability: float = 1.0
    role: str | None = None
    turn: int | None = None
    contains: str | None = None
    anywhere: str | None = None
    first: int | None = None
    attempts: int | None = None
    status: int = 500
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 1.0
    period: int = 10
    parameter: str = "temperature"
    instead: str | None = None

    def __post_init__(self) -> None:
        """Refuse a kind that does not exist."""
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is no kind of fault; there are {', '.join(sorted(KINDS))}")

    @classmethod
    def parse(cls, text: str) -> Fault:
        """Read a rule from the command line: a JSON object with the attributes' names."""
        return cls(**orjson.loads(text))

    def matches(self, call: Call, place: int = 0) -> bool:
        """Whether the rule, which stands at this place among the others, is about this request, `first` aside."""
        return (
            self.role in (None, call.role)
            and self.turn in (None, turn_of(call.body["messages"]))
            and (self.contains is None or self.contains in str(call.body["messages"][-1].get("content")))
            and (self.anywhere is None or any(self.anywhere in str(each.get("content")) for each in call.body["messages"]))
            and (self.attempts is None or call.attempt <= self.attempts)
            and (self.kind != "unsupported" or self.parameter in call.body)
            and (self.kind != "stale" or call.request_on_connection > 1)
            and (self.probability >= 1 or share(call.digest, f"{self.kind}/{place}/{call.attempt}") < self.probability)
        )


@dataclass(slots=True)
class Call:
    """One request as the faults see it."""

    request: web.BaseRequest
    body: dict[str, Any]
    role: str
    digest: bytes
    attempt: int
    number: int
    request_on_connection: int
    completion: dict[str, Any]
    company: list[asyncio.Event]

    @property
    def transport(self) -> asyncio.Transport:
        transport = self.request.transport
        if transport is None:
            raise ConnectionResetError("The client has gone")
        return transport


def json_response(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return web.Response(body=raw, status=status, headers=headers, content_type="application/json")


def answer(call: Call, **changes: Any) -> web.Response:
    """The good answer with some keys of its first choice changed."""
    choice = {**call.completion["choices"][0], **changes}
    return json_response({**call.completion, "choices": [choice]})


def cut(call: Call) -> web.Response:
    """Reset the connection. What is returned is never sent, since there is nobody left to send it to."""
    call.transport.abort()
    return web.Response()


async def _status(fault: Fault, call: Call) -> web.StreamResponse:
    body = (
        {"error": {"message": f"The test endpoint says {fault.status}", "code": fault.status}}
        if fault.body is None
        else fault.body
    )
    if isinstance(body, str):
        return web.Response(text=body, status=fault.status, headers=fault.headers)
    return json_response(body, fault.status, fault.headers)


async def _error_in_200(fault: Fault, call: Call) -> web.StreamResponse:
    return json_response({"error": fault.body or {"code": 429, "message": "The test endpoint is busy"}})


async def _choice_error(fault: Fault, call: Call) -> web.StreamResponse:
    text = str(call.completion["choices"][0]["message"]["content"])
    message = {"role": "assistant", "content": text[: len(text) // 2]}
    return answer(
        call, finish_reason="error", error=fault.body or {"code": 502, "message": "Upstream went away"}, message=message
    )


async def _no_choices(fault: Fault, call: Call) -> web.StreamResponse:
    return json_response({**call.completion, "choices": None})


async def _empty_choices(fault: Fault, call: Call) -> web.StreamResponse:
    return json_response({**call.completion, "choices": []})


async def _content(fault: Fault, call: Call) -> web.StreamResponse:
    return answer(call, message={"role": "assistant", "content": "I would rather say yes." if fault.body is None else fault.body})


async def _choice(fault: Fault, call: Call) -> web.StreamResponse:
    return answer(call, **fault.body)


async def _merged(fault: Fault, call: Call) -> web.StreamResponse:
    return json_response({**call.completion, **fault.body})


async def _garbage(fault: Fault, call: Call) -> web.StreamResponse:
    return web.Response(body=b'{"id": "chatcmpl-1", "choi', content_type="application/json")


async def _html(fault: Fault, call: Call) -> web.StreamResponse:
    return web.Response(text="<html><body>Please sign in.</body></html>", content_type="text/html")


async def _wrong_content_type(fault: Fault, call: Call) -> web.StreamResponse:
    return web.Response(body=orjson.dumps(call.completion), content_type="text/plain")


async def _huge(fault: Fault, call: Call) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(call.request)
    while call.request.transport is not None:
        await response.write(b" " * 2**20)
    return response


async def _reset_in_headers(fault: Fault, call: Call) -> web.StreamResponse:
    call.transport.write(b"HTTP/1.1 200 OK\r\nContent-Ty")
    return cut(call)


async def _reset_in_body(fault: Fault, call: Call) -> web.StreamResponse:
    raw = orjson.dumps(call.completion)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
    call.transport.write(head.encode() + raw[: len(raw) // 2])
    await asyncio.sleep(0.02)  # so that the half arrives before the reset, which would overtake it
    return cut(call)


async def _half(fault: Fault, call: Call) -> web.StreamResponse:
    raw = orjson.dumps(call.completion)
    return web.Response(body=raw[: len(raw) // 2], content_type="application/json")


async def _cut(fault: Fault, call: Call) -> web.StreamResponse:
    return cut(call)


async def _silence(fault: Fault, call: Call) -> web.StreamResponse:
    await asyncio.sleep(fault.seconds)
    return cut(call)


async def _slow(fault: Fault, call: Call) -> web.StreamResponse:
    raw = orjson.dumps(call.completion)
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(call.request)
    step = max(1, len(raw) // 20)
    for start in range(0, len(raw), step):
        await response.write(raw[start : start + step])
        await asyncio.sleep(fault.seconds / 20)
    return response


async def _together(fault: Fault, call: Call) -> web.StreamResponse:
    answered = asyncio.Event()
    call.company.append(answered)
    if len(call.company) >= fault.period:
        for each in call.company:
            each.set()
    await answered.wait()
    return json_response(call.completion)


async def _unsupported(fault: Fault, call: Call) -> web.StreamResponse:
    message = f"Unsupported parameter: '{fault.parameter}' is not supported with this model."
    if fault.instead:
        message += f" Use '{fault.instead}' instead."
    error = {"message": message, "type": "invalid_request_error", "param": fault.parameter, "code": "unsupported_parameter"}
    return json_response({"error": error}, 400)


async def _flapping(fault: Fault, call: Call) -> web.StreamResponse:
    up = (call.number // fault.period) % 2 == 0
    return json_response(call.completion) if up else cut(call)


KINDS: dict[str, Callable[[Fault, Call], Awaitable[web.StreamResponse]]] = {
    "choice": _choice,  # a well-formed answer whose first choice has the body's keys, such as `message` and `finish_reason`
    "choice_error": _choice_error,  # half a text, and the finish reason `error`
    "content": _content,  # a well-formed answer with this text: for the judge, one that is no JSON
    "cut": _cut,  # the connection is reset before anything is answered
    "empty_choices": _empty_choices,
    "error_in_200": _error_in_200,
    "flapping": _flapping,
    "garbage": _garbage,
    "half": _half,  # a whole HTTP answer with half of the JSON
    "html": _html,
    "huge": _huge,
    "merged": _merged,  # a well-formed answer with the body's keys, such as `usage` or `service_tier`
    "no_choices": _no_choices,
    "reset_in_body": _reset_in_body,
    "reset_in_headers": _reset_in_headers,
    "silence": _silence,
    "slow": _slow,
    "stale": _cut,  # like a server that closed the idle connection: every request but the first on it is reset
    "status": _status,
    "together": _together,  # answered well, but only once so many are waiting
    "unsupported": _unsupported,
    "wrong_content_type": _wrong_content_type,
}


class FaultPlan:
    """Picks the rule for a request: the first that matches.

    Args:
        faults: The rules.
    """

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        self._faults = faults
        self._matched = dict.fromkeys(range(len(faults)), 0)

    def __bool__(self) -> bool:
        return bool(self._faults)

    def pick(self, call: Call) -> Fault | None:
        for number, fault in enumerate(self._faults):
            if fault.matches(call, number):
                self._matched[number] += 1
                if fault.first is None or self._matched[number] <= fault.first:
                    return fault
        return None


def as_argument(fault: Fault) -> str:
    """The rule as `Fault.parse` reads it."""
    return orjson.dumps(dataclasses.asdict(fault)).decode()
