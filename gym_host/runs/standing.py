# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which servers have refused all that they were asked since a run began: a wrong address, key, model or parameter.

A failure that comes by chance does not look so: whoever answers one call, answers calls of this setup.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

from gym_host.errors import ServerError
from gym_host.jsonl import Json
from gym_host.runs.keys import Key
from gym_host.runs.rollouts import Observer
from gym_host.serving.calls import ServerCalls
from gym_host.wording import printable

ENOUGH = 5
"""Refused calls of one server, with none answered, after which no further rollouts are started."""

_T = TypeVar("_T")


@dataclass(slots=True)
class Standing:
    """How the servers stand that can say so, which they do at `/standing`.

    Attributes:
        calls: Calls to the servers.
        before: What each server said when the run began: a server on a port may have served other runs.
    """

    calls: ServerCalls
    before: dict[str, Json] = field(default_factory=dict)

    async def begin(self, servers: Iterable[str]) -> None:
        """Takes note of how the servers stand before the run."""
        names = list(servers)
        said = await asyncio.gather(*map(self._said, names))
        self.before = {name: one for name, one in zip(names, said, strict=True) if one is not None}

    async def refusing(self, *, least: int = 1) -> dict[str, str]:
        """The servers that have refused so many calls and answered none, and in what words."""
        said = await asyncio.gather(*map(self._said, self.before))
        found = {}
        for (name, before), now in zip(self.before.items(), said, strict=True):
            if now and now["answered"] == before["answered"] and now["refused"] - before["refused"] >= least:
                found[name] = printable(str(now.get("refusal")))
        return found

    async def _said(self, name: str) -> Json | None:
        try:
            said = await self.calls.call(name, "/standing")
        except ServerError:
            return None
        known = isinstance(said, dict) and all(isinstance(said.get(key), int) for key in ("answered", "refused"))
        return said if known else None


@dataclass(slots=True)
class Brake:
    """An observer before another one, which stops what starts rollouts as soon as a server refuses all it is asked.

    Once anything is scored, nothing is stopped any more.

    Attributes:
        standing: How the servers stand.
        observer: The other one.
        say: Is given a line when it stops.
        refusing: What the servers refuse for which it has stopped.
    """

    standing: Standing
    observer: Observer
    say: Callable[[str], None]
    refusing: dict[str, str] = field(default_factory=dict)
    scored: bool = False
    _failed: asyncio.Event = field(default_factory=asyncio.Event)

    def started(self, key: Key) -> None:
        self.observer.started(key)

    def finished(self, key: Key, row: Json, *, failed: bool) -> None:
        self.scored = self.scored or not failed
        if failed:
            self._failed.set()
        self.observer.finished(key, row, failed=failed)

    def until_stopped(self, tasks: Iterable[_T]) -> Iterator[_T]:
        """The tasks, as long as there is no reason to stop."""
        for task in tasks:
            if self.refusing:
                return
            yield task

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Looks after every failure, for as long as the context is open, whether to stop."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        if not (self.scored or self.refusing):
            self.refusing = await self.standing.refusing()

    async def _watch(self) -> None:
        while not (self.scored or self.refusing):
            await self._failed.wait()
            self._failed.clear()
            refusing = await self.standing.refusing(least=ENOUGH)
            if refusing and not self.scored:
                self.refusing = refusing
                names = ", ".join(refusing)
                self.say(f"no further rollouts are started, since {names} refused every call; those that run are finished")
