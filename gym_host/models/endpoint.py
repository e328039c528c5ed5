# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One OpenAI-compatible chat-completions endpoint: bounded attempts, and nothing of a key in what leaves it.

A failed call keeps its place among the concurrent requests while it waits for its next attempt: an endpoint that is
overloaded sees less load, and a retried request does not queue again behind newer ones.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import orjson

from gym_host.models.adaptation import Adaptations, refused_parameter
from gym_host.models.endpoint_settings import EndpointSettings
from gym_host.models.errors import ChatError
from gym_host.models.redaction import Redactor, endpoint_secrets, safe_url
from gym_host.models.reply import Failure, read_reply
from gym_host.models.retry import backoff_seconds, retry_after_seconds
from gym_host.models.transport import Transport
from gym_host.wording import printable

__all__ = ["ChatReply", "Endpoint", "EndpointSettings"]

log = logging.getLogger(__name__)

_MOVED = "the endpoint is elsewhere; set base_url to where this one points"
_HINTS = {
    **dict.fromkeys((301, 302, 303, 307, 308), _MOVED),
    401: "set api_key to a key that this endpoint takes",
    402: "the account has no credit left",
    403: "the key in api_key may not use this model here",
    404: "check base_url (it usually ends in /v1) and model",
}

_OF_ONE_REQUEST = (400, 413, 422)
"""Statuses by which what was said in a request is refused, for its length, say: another request may be taken."""

_SET_BY_HAND = (
    "The endpoint does not take `{}`, which was set by hand; take it out of the command, the configuration or the row. "
    "It says: {}"
)
_NOT_TAKEN = {
    "response_format": (
        "The endpoint does not take `{}`, by which the caller asks for replies of a fixed JSON shape. Use an endpoint or a model "
        "that does, or name `response_format` among the `adaptable_parameters` of this model server: then it is left out, and "
        "replies come in whatever shape the model chooses. It says: {}"
    )
}
"""What to do about a refused parameter that no user set by hand."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A usable chat completion.

    Attributes:
        body: The decoded answer as the provider gave it.
        sent: Parameters as really sent where that differs from what was asked; None means left out.
        attempts: How many requests were sent for it.
        latency: Seconds that the last request took.
    """

    body: dict[str, Any]
    sent: Mapping[str, Any]
    attempts: int
    latency: float


@dataclass(slots=True)
class Standing:
    """How an endpoint has answered so far.

    Attributes:
        answered: Calls with a usable reply.
        refused: Calls that it refused as it does for what is the same in all of them: the key, the model, a parameter.
        refusal: In what words it did so last.
    """

    answered: int = 0
    refused: int = 0
    refusal: str = ""

    def failed(self, error: ChatError) -> None:
        """Counts a call that failed, if it was refused so."""
        if error.of_setup:
            self.refused, self.refusal = self.refused + 1, error.message


@dataclass(slots=True)
class _Progress:
    """How far one call has come."""

    attempts: int = 0
    failures: int = 0
    reconnected: bool = False
    sent: Mapping[str, Any] = field(default_factory=dict)


class Endpoint:
    """Asks one model of one endpoint. Use it within one event loop, and close it: `async with` or `aclose`.

    Args:
        settings: Where the endpoint is and how to call it.
        sleep: Waits for some seconds.
        now: Seconds since the epoch, for `Retry-After` dates.
        chance: A number in [0, 1), for the jitter.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        now: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self.standing = Standing()
        self._sleep, self._now, self._chance = sleep, now, chance
        self._transport = Transport(settings)
        self._slots = asyncio.Semaphore(settings.num_concurrent_requests)  # wakes in the order of asking
        self._adaptations = Adaptations()
        self._redact = Redactor(
            endpoint_secrets(settings.base_url, settings.api_key.strip(), settings.default_headers, settings.extra_body)
        )
        self._shown = safe_url(settings.url)
        self._warned: set[str] = set()

    def __repr__(self) -> str:
        return f"Endpoint({self.settings!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def reach(self) -> None:
        """Try once whether anything answers at the address; no model is asked.

        Raises:
            ChatError: If nothing does.
        """
        failure = await self._transport.reach()
        if failure is not None:
            raise self._error(failure, _Progress(attempts=1), self._redact(failure.message))

    async def chat(self, body: Mapping[str, Any], adaptable: Set[str] = frozenset()) -> ChatReply:
        """Ask for one chat completion.

        Args:
            body: A chat-completions body without `model`.
            adaptable: Names of parameters that no user set by hand: they are left out if the endpoint refuses them.

        Returns:
            The reply; its text may be empty, but it is never that of a generation that died.

        Raises:
            ChatError: If the endpoint refuses the request, or after `max_attempts` failures.
        """
        settings = self.settings
        wanted = {"model": settings.model, **body, **settings.extra_body}
        if adaptable and settings.extra_body:
            adaptable = adaptable - settings.extra_body.keys()
        async with self._slots:
            try:
                reply = await self._ask(wanted, adaptable)
            except ChatError as error:
                self.standing.failed(error)
                raise
            self.standing.answered += 1
            return reply

    async def _ask(self, wanted: dict[str, Any], adaptable: Set[str]) -> ChatReply:
        progress = _Progress()
        while True:
            body = wanted
            if self._adaptations:
                body, progress.sent = self._adaptations.apply(wanted, adaptable)
            started = time.perf_counter()
            outcome = await self._attempt(body, fresh=progress.reconnected)
            if not isinstance(outcome, Failure):
                return ChatReply(outcome, progress.sent, progress.attempts + 1, time.perf_counter() - started)
            if outcome.stale and not progress.reconnected:
                progress.reconnected = True  # the server closed an idle connection: no attempt, no word
                continue
            progress.attempts += 1
            if not self._adapts(outcome, body, adaptable, progress):
                await self._sleep(self._wait_after(outcome, progress))

    async def _attempt(self, body: dict[str, Any], *, fresh: bool) -> dict[str, Any] | Failure:
        answer = await self._transport.post(orjson.dumps(body), fresh=fresh)
        if isinstance(answer, Failure):
            return replace(answer, message=self._redact(answer.message))
        reply = read_reply(answer.status, answer.raw, answer.headers.get("content-type", "no content type"), self._redact)
        if isinstance(reply, Failure):
            return replace(reply, wait=retry_after_seconds(answer.headers, self._now()))
        return reply

    def _adapts(self, failure: Failure, body: dict[str, Any], adaptable: Set[str], progress: _Progress) -> bool:
        """Say whether the next request will differ, because the endpoint refused a parameter that may be changed."""
        parameter = refused_parameter(failure, body)
        if parameter is None:
            return False
        if self._adaptations.learn(parameter, adaptable):
            self._warn_once(f"parameter {parameter}", f"`{parameter}` is not sent as it stands from now on: {failure.message}")
            return True
        raise self._error(
            failure, progress, _NOT_TAKEN.get(parameter, _SET_BY_HAND).format(parameter, failure.message), parameter
        )

    def _wait_after(self, failure: Failure, progress: _Progress) -> float:
        """Seconds until the next attempt.

        Raises:
            ChatError: If there is to be none.
        """
        settings = self.settings
        progress.failures += 1
        message = failure.message
        if not failure.retriable or progress.failures >= settings.max_attempts:
            message = f"{message}{self._circumstances(failure, progress)}"
            self._warn_once(failure.kind, message)
            raise self._error(failure, progress, message)
        self._warn_once(failure.kind, f"{message} (attempt {progress.failures} of {settings.max_attempts})")
        asked, cap, chance = failure.wait or 0.0, settings.retry_after_cap_seconds, self._chance()
        if asked > cap:
            waits = f"it asks to wait {asked:g} seconds, more than retry_after_cap_seconds, {cap:g}"
            raise self._error(failure, progress, f"{message} ({waits}){self._circumstances(failure, progress)}")
        backoff = backoff_seconds(
            progress.failures, base=settings.backoff_base_seconds, maximum=settings.backoff_max_seconds, chance=chance
        )
        # What is asked is spread, so that those who were told the same do not return together; `Retry-After: 0` or a date that
        # has passed is no leave to ask again at once.
        return max(asked * (1 + 0.1 * chance), backoff)

    def _circumstances(self, failure: Failure, progress: _Progress) -> str:
        """What is said behind a provider's words, which alone tell little: the status, the endpoint, and what can be done."""
        told = []
        if failure.status is not None:
            told.append(f"HTTP {failure.status} from {self._shown}")
        if progress.attempts > 1:
            told.append(f"{progress.attempts} attempts")
        hint = f": {_HINTS[failure.status]}" if failure.status in _HINTS and not failure.retriable else ""
        return f" ({', '.join(told)}{hint})" if told else ""

    def _error(self, failure: Failure, progress: _Progress, message: str, parameter: str | None = None) -> ChatError:
        return ChatError(
            message,
            kind=failure.kind,
            status=failure.status,
            attempts=progress.attempts,
            detail=failure.detail,
            sent=progress.sent,
            of_setup=failure.kind == "refused" and (parameter is not None or failure.status not in _OF_ONE_REQUEST),
        )

    def _warn_once(self, kind: str, message: str) -> None:
        """Log the first failure of each kind as it happens; the others are in the errors."""
        if kind not in self._warned:
            self._warned.add(kind)
            place = "" if self._shown in message else f" at {self._shown}"
            log.warning("%s%s: %s", self.settings.model, place, printable(message))
