# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How far a run is: a bar where a person watches, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from gym_host.jsonl import Json
from gym_host.runs.cost import Meter
from gym_host.runs.keys import FAILURE_CLASS, Key
from gym_host.runs.scoreboard import Scoreboard
from gym_host.wording import printable

_PLAIN_SECONDS = 15.0


@dataclass(slots=True)
class Counts:
    """How many rollouts are in which state.

    Attributes:
        planned: All rollouts of the run.
        scored_before: Scored by an earlier run that this one goes on with.
        given_up: Failed before, and out of attempts.
        scored: Scored by this run.
        failed: Failed in this run.
        running: In flight.
    """

    planned: int
    scored_before: int = 0
    given_up: int = 0
    scored: int = 0
    failed: int = 0
    running: int = 0

    @property
    def left(self) -> int:
        return self.planned - self.scored_before - self.given_up - self.scored - self.failed


@dataclass(slots=True)
class RunState:
    """The state of a run as it is shown: an `Observer` of the collector.

    Attributes:
        counts: How many are in which state.
        first_failure: What the first failure said; later ones are in the failures file.
        warn: Is called with the first failure.
        meter: Adds up what the run costs; None if nobody can tell.
        clock: Seconds.
    """

    counts: Counts
    warn: Callable[[str], None]
    meter: Meter | None = None
    clock: Callable[[], float] = time.monotonic
    first_failure: str | None = None
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def started(self, key: Key) -> None:
        self.counts.running += 1

    def finished(self, key: Key, row: Json, *, failed: bool) -> None:
        self.counts.running -= 1
        if self.meter is not None:
            self.meter.add(row)
        if not failed:
            self.counts.scored += 1
            return
        self.counts.failed += 1
        if self.first_failure is None:
            stage = row.get("failure_stage")
            place = f" at {stage}" if stage else ""
            self.first_failure = printable(f"{row.get('id', key)}: {row[FAILURE_CLASS]}{place}: {row.get('error')}")
            self.warn(f"first failure: {self.first_failure}")

    def line(self) -> str:
        """The state in words."""
        counts = self.counts
        parts = [f"{counts.scored_before + counts.scored}/{counts.planned} scored"]
        parts += [f"{counts.failed} failed"] if counts.failed else []
        parts += [f"{counts.running} running"]
        done = counts.scored + counts.failed
        seconds = self.clock() - self._began
        if done and seconds > 0:
            rate = done / seconds
            parts += [f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.1f}/min", f"{duration(counts.left / rate)} left"]
        return ", ".join(parts)

    def cost(self) -> str | None:
        """The cost so far in a few words, if it can be told."""
        return self.meter.headline() if self.meter is not None else None


def duration(seconds: float) -> str:
    """A duration as people write it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


class Display(Protocol):
    """Something that shows how far a run is and what is found so far, again and again."""

    def show(self, state: RunState, found: str) -> None: ...

    def close(self) -> None: ...


class BarDisplay:
    """A bar at the foot of a terminal, and below it what is found so far."""

    def __init__(self, console: Console, counts: Counts) -> None:
        self._progress = Progress(BarColumn(bar_width=30), TextColumn("{task.description}", markup=False), console=console)
        done = counts.scored_before + counts.given_up
        self._bar: TaskID = self._progress.add_task("starting", total=counts.planned, completed=done)
        self._found = Text()
        self._live = Live(Group(self._progress, self._found), console=console, transient=True)
        self._live.start()

    def show(self, state: RunState, found: str) -> None:
        counts = state.counts
        self._progress.update(self._bar, completed=counts.planned - counts.left, description=state.line())
        self._found.plain = found

    def close(self) -> None:
        self._live.stop()


class LineDisplay:
    """Plain lines, one every so often, for logs and pipes."""

    def __init__(self, write: Callable[[str], None], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._due = clock() + _PLAIN_SECONDS

    def show(self, state: RunState, found: str) -> None:
        if self._clock() >= self._due:
            self._due = self._clock() + _PLAIN_SECONDS
            self._write(f"{state.line()}, {found}" if found else state.line())

    def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def shown(state: RunState, scoreboard: Scoreboard, display: Display, *, seconds: float = 0.5) -> AsyncIterator[None]:
    """Shows a run for as long as the context is open."""

    async def keep_showing() -> None:
        while True:
            await asyncio.sleep(seconds)
            await scoreboard.refresh()
            display.show(state, ", ".join([*map(str, scoreboard.headlines), *filter(None, [state.cost()])]))

    showing = asyncio.create_task(keep_showing())
    try:
        yield
    finally:
        showing.cancel()
        with suppress(asyncio.CancelledError):
            await showing
        display.close()


def display_on(console: Console, counts: Counts) -> Display:
    """What suits a console: a bar at a terminal, else lines."""
    if console.is_terminal:
        return BarDisplay(console, counts)
    return LineDisplay(lambda line: say(console, line))


def say(console: Console, line: str, *, style: str | None = None) -> None:
    """Prints a line as it stands: nothing in it is markup, whatever brackets a provider's words have."""
    console.print(line, style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)
