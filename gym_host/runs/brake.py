# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Stops a run that cannot come to anything, and never one that could go on.

Refusals come at once and answers take their time, so that a few refusals alone tell nothing: a server may refuse single
conversations with the status of a wrong key. The rollouts that run are therefore awaited before anything is decided.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from gym_host.jsonl import Json
from gym_host.runs.keys import Key
from gym_host.runs.rollouts import Observer
from gym_host.runs.standing import Standing

ENOUGH = 5
"""Refused calls of one server, with none answered, after which no further rollouts are begun."""

_LOOKS_SECONDS = 1.0
"""How often it is seen, while rollouts wait to be begun, whether the server has answered."""


@dataclass(slots=True)
class Brake:
    """An observer before another one, which holds back rollouts while a server refuses all it is asked and nothing is scored.

    They are begun after all once anything is scored or the server answers; then nothing is held back any more. If all that runs
    has ended and neither has happened, the run is stopped.

    Attributes:
        standing: How the servers stand.
        observer: The other one.
        say: Is given a line when rollouts are held back, when they are begun after all, and when the run is stopped.
        left: Rollouts that are still to be begun.
        scored: Whether anything of the run is scored, by an earlier start of it too.
        stopped: Whether it has stopped the run.
    """

    standing: Standing
    observer: Observer
    say: Callable[[str], None]
    left: int
    scored: bool
    stopped: bool = False
    _running: int = 0
    _open: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._open.set()

    def started(self, key: Key) -> None:
        self.left -= 1
        self._running += 1
        self.observer.started(key)

    def finished(self, key: Key, row: Json, *, failed: bool) -> None:
        self._running -= 1
        self.scored = self.scored or not failed
        self._ended.set()
        self.observer.finished(key, row, failed=failed)

    async def may_begin(self) -> bool:
        """Whether one more rollout may be begun; waits until that is settled."""
        await self._open.wait()
        return not self.stopped

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Looks after every rollout that ends, for as long as the context is open, whether others are to be held back."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _watch(self) -> None:
        try:
            while not self.scored:
                await self._ended.wait()
                self._ended.clear()
                refusing = {} if self.scored else await self.standing.refusing(least=ENOUGH)
                if refusing and self.left and not self.scored:
                    self._open.clear()
                    self.say(f"no further rollouts are begun until those that run have ended, since {_told(refusing)}")
                    self.stopped = await self._ends_so()
                    self.say("the run is stopped" if self.stopped else "the run goes on after all")
                    return
        finally:
            self._open.set()

    async def _ends_so(self) -> bool:
        """Whether all that runs ends with nothing scored and still a server that refuses all."""
        while True:
            idle = not self._running  # Before it is asked, so that nothing can be answered afterwards.
            refusing = await self.standing.refusing(least=ENOUGH)
            if self.scored or not refusing:
                return False
            if idle:
                return True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), _LOOKS_SECONDS)
            self._ended.clear()


def _told(refusing: dict[str, str]) -> str:
    return "; ".join(f"{name} {said}" for name, said in refusing.items())
