# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Collecting rollouts: a window slides over the rows, and each result is on the disk before the next row starts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from gym_host.journal import Journal
from gym_host.jsonl import Json
from gym_host.runs.attempts import Attempt, Task
from gym_host.runs.keys import ATTEMPT_INDEX, FAILURE_CLASS, Key
from gym_host.runs.scored import Scored


class Observer(Protocol):
    """What wants to know how the collecting goes."""

    def started(self, key: Key) -> None: ...

    def finished(self, key: Key, row: Json, *, failed: bool) -> None: ...


async def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Collector:
    """Runs tasks and writes what comes of them.

    Attributes:
        attempt: Makes one attempt at a task.
        rollouts: Where scored rows go.
        failures: Where failed attempts go.
        scored: Takes note of scored rows.
        observer: Is told of every start and end.
        may_begin: Is awaited before each start; false ends the collecting, and what runs is finished.
    """

    attempt: Attempt
    rollouts: Journal
    failures: Journal
    scored: Scored
    observer: Observer
    may_begin: Callable[[], Awaitable[bool]] = _always

    async def collect(self, tasks: Iterable[Task], *, concurrency: int) -> None:
        """Runs all tasks, so many at once; the next one starts as soon as any has finished.

        Raises:
            OutputError: A row could not be written. What was in flight is given up; all that is written stays.
        """
        waiting = iter(tasks)
        workers = {asyncio.create_task(self._work(waiting)) for _ in range(concurrency)}
        try:
            await _all_done(workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _work(self, waiting: Iterator[Task]) -> None:
        while await self.may_begin():
            task = next(waiting, None)
            if task is None:
                return
            self.observer.started(task.key)
            started = time.monotonic()
            result = await self.attempt(task)
            failed = FAILURE_CLASS in result
            if failed:
                self.failures.append(result | _circumstances(task, time.monotonic() - started))
            else:
                self.scored.add(task.key, result, self.rollouts.append(result))
            self.observer.finished(task.key, result, failed=failed)


async def _all_done(workers: set[asyncio.Task[None]]) -> None:
    done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    for worker in done:
        worker.result()


def _circumstances(task: Task, seconds: float) -> Json:
    return {
        ATTEMPT_INDEX: task.attempt,
        "failed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "duration_seconds": round(seconds, 3),
    }
