# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Collecting rollouts: a window slides over the rows, and each result is on the disk before the next row starts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from gym_host.calls import ServerCalls
from gym_host.errors import ServerError
from gym_host.jsonl import Journal, Json
from gym_host.run_files import ATTEMPT_INDEX, FAILURE_CLASS, ROLLOUT_INDEX, TASK_INDEX, FailedBefore, Key, Scored, key_of

AGENT_RUN_ERROR = "agent_run_error"
JUDGE_FAILED = "judge_failed"

FAILURE_DETAILS = "failure_details"

_OF_THE_FAILURE = (
    FAILURE_CLASS,
    ATTEMPT_INDEX,
    FAILURE_DETAILS,
    "error",
    "failure_stage",
    "failed_at",
    "duration_seconds",
    "reward",
    "mask_sample",
)
"""Keys of a failed attempt, which the next attempt must not inherit."""


@dataclass(frozen=True, slots=True)
class Task:
    """One rollout to be collected.

    Attributes:
        row: The row as dispatched.
        failed: Failed attempts before this one, or None.
    """

    row: Json
    failed: FailedBefore | None = None

    @property
    def key(self) -> Key:
        return key_of(self.row)

    @property
    def attempt(self) -> int:
        return self.failed.attempts if self.failed else 0

    def judged_again(self) -> Json | None:
        """The row with its finished conversation, if only the judge failed before; None if it has to be run."""
        last = self.failed.last if self.failed else {}
        if last.get(FAILURE_CLASS) != JUDGE_FAILED or not isinstance(last.get("response"), dict):
            return None
        return {key: value for key, value in last.items() if key not in _OF_THE_FAILURE}


class Observer(Protocol):
    """What wants to know how the collecting goes."""

    def started(self, key: Key) -> None: ...

    def finished(self, key: Key, row: Json, *, failed: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Collector:
    """Runs tasks and writes what comes of them.

    Attributes:
        calls: Calls to the servers.
        agent: Name of the agent instance.
        verifier: Name of its resources server, for judging again; None if it has none.
        rollouts: Where scored rows go.
        failures: Where failed attempts go.
        scored: Takes note of scored rows.
        observer: Is told of every start and end.
    """

    calls: ServerCalls
    agent: str
    verifier: str | None
    rollouts: Journal
    failures: Journal
    scored: Scored
    observer: Observer

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
        for task in waiting:
            self.observer.started(task.key)
            started = time.monotonic()
            result = await self._attempt(task)
            failed = FAILURE_CLASS in result
            if failed:
                self.failures.append(result | _circumstances(task, time.monotonic() - started))
            else:
                self.scored.add(task.key, result, self.rollouts.append(result))
            self.observer.finished(task.key, result, failed=failed)

    async def _attempt(self, task: Task) -> Json:
        again = task.judged_again()
        if again is not None and self.verifier is not None:
            # Whatever goes wrong here, the conversation stays in the row, to be judged once more.
            return await self._ask(self.verifier, "/verify", again, JUDGE_FAILED)
        return await self._ask(self.agent, "/run", task.row, AGENT_RUN_ERROR)

    async def _ask(self, server: str, path: str, row: Json, failure_class: str) -> Json:
        try:
            result = await self.calls.call(server, path, row)
        except ServerError as error:
            return row | _failure(failure_class, str(error))
        key = {name: row[name] for name in (TASK_INDEX, ROLLOUT_INDEX)}
        if isinstance(result, dict) and FAILURE_CLASS in result:
            return {**row, "reward": 0.0, "mask_sample": True, **result, **key}
        if not isinstance(result, dict) or not isinstance(result.get("reward"), int | float):
            return row | _failure(failure_class, f"{server} answered without a reward")
        return {**row, **result, **key}


async def _all_done(workers: set[asyncio.Task[None]]) -> None:
    done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    for worker in done:
        worker.result()


def _failure(failure_class: str, error: str) -> Json:
    return {FAILURE_CLASS: failure_class, "error": error, "reward": 0.0, "mask_sample": True}


def _circumstances(task: Task, seconds: float) -> Json:
    return {
        ATTEMPT_INDEX: task.attempt,
        "failed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "duration_seconds": round(seconds, 3),
    }
