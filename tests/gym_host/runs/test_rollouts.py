# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Collecting rollouts: the window, what is written when, and what counts as failed."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from gym_host.errors import OutputError
from gym_host.journal import Journal
from gym_host.runs.attempts import RunAttempt, Task
from gym_host.runs.failures import FailedBefore
from gym_host.runs.keys import Key, key_of
from gym_host.runs.rollouts import Collector
from gym_host.runs.run_files import RunFiles
from gym_host.runs.scored import Scored
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.local import running
from tests.support.components import SumsRoot, read_jsonl, sum_row

Json = dict[str, Any]


def dispatched(count: int, *calls: str, **more: Any) -> list[Json]:
    return [sum_row(number, *calls, **more) | {"_ng_task_index": number, "_ng_rollout_index": 0} for number in range(count)]


def agent_app(run: Callable[[Json], Awaitable[Json]]) -> InMemoryCalls:
    """An agent `sums` that answers so."""
    app = FastAPI()

    @app.post("/run")
    async def answer(row: dict[str, Any]) -> dict[str, Any]:
        return row | await run(row)

    return InMemoryCalls({"sums": app})


@dataclass
class Seen:
    """An observer that remembers."""

    running: int = 0
    most: int = 0
    ended: list[tuple[Key, bool]] = field(default_factory=list)

    def started(self, key: Key) -> None:
        self.running += 1
        self.most = max(self.most, self.running)

    def finished(self, key: Key, row: Json, *, failed: bool) -> None:
        self.running -= 1
        self.ended.append((key, failed))


class Collected:
    """Collects into the files of a run."""

    def __init__(self, folder: Path, calls: InMemoryCalls, verifier: str | None = None) -> None:
        self.files, self.scored, self.seen = RunFiles.of(folder / "x.jsonl"), Scored(["reward"]), Seen()
        self._journals = Journal(self.files.rollouts), Journal(self.files.failures)
        self._collector = Collector(RunAttempt(calls, "sums", verifier), *self._journals, self.scored, self.seen)

    async def __call__(self, tasks: Iterable[Json | Task], concurrency: int = 1) -> Collected:
        given = [task if isinstance(task, Task) else Task(task) for task in tasks]
        async with asyncio.timeout(10):
            await self._collector.collect(given, concurrency=concurrency)
        return self

    def close(self) -> None:
        for journal in self._journals:
            journal.close()

    @property
    def rows(self) -> list[Json]:
        return read_jsonl(self.files.rollouts)

    @property
    def failures(self) -> list[Json]:
        return read_jsonl(self.files.failures)


@pytest.fixture
def root(tmp_path: Path) -> SumsRoot:
    return SumsRoot(tmp_path / "root")


@pytest.fixture
async def sums(root: SumsRoot, tmp_path: Path) -> AsyncIterator[Collected]:
    """The agent and the verifier of the benchmark `sums`."""
    async with running(root.instances()) as calls:
        collected = Collected(tmp_path, calls, "sums_verifier")
        yield collected
        collected.close()


def collected(tmp_path: Path, run: Callable[[Json], Awaitable[Json]], request: pytest.FixtureRequest) -> Collected:
    it = Collected(tmp_path, agent_app(run))
    request.addfinalizer(it.close)
    return it


# The window


async def test_a_slow_row_holds_up_nobody(tmp_path: Path, request: pytest.FixtureRequest):
    others_done, finished = asyncio.Event(), 0

    async def run(row: Json) -> Json:
        nonlocal finished
        if row["number"] == 0:
            await others_done.wait()
        finished += 1
        if finished == 19:
            others_done.set()
        return {"reward": 1.0}

    it = await collected(tmp_path, run, request)(dispatched(20), concurrency=2)
    assert [row["number"] for row in it.rows] == [*range(1, 20), 0]


async def test_so_many_rows_are_in_flight_as_was_asked_for_and_no_more(tmp_path: Path, request: pytest.FixtureRequest):
    everybody, in_flight, most = asyncio.Barrier(4), 0, 0

    async def run(row: Json) -> Json:
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await everybody.wait()  # Passed by four at a time, so that fewer in flight would wait forever.
        in_flight -= 1
        return {"reward": 1.0}

    it = await collected(tmp_path, run, request)(dispatched(12), concurrency=4)
    assert (most, it.seen.most, len(it.rows)) == (4, 4, 12)


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_what_has_finished_is_in_the_file_before_another_row_starts(
    tmp_path: Path, request: pytest.FixtureRequest, concurrency: int
):
    started = 0

    async def run(row: Json) -> Json:
        nonlocal started
        started += 1
        written = len(read_jsonl(tmp_path / "x.jsonl")) + len(read_jsonl(tmp_path / "x_failures.jsonl"))
        assert written >= started - concurrency
        for _ in range(row["number"] % 4):
            await asyncio.sleep(0)
        failure = {"_ng_failure_class": "odd", "error": "odd"} if row["number"] % 2 else {}
        return {"reward": 1.0, **failure}

    it = await collected(tmp_path, run, request)(dispatched(20), concurrency=concurrency)
    assert (len(it.rows), len(it.failures), started) == (10, 10, 20)


async def test_rows_start_in_their_order(tmp_path: Path, request: pytest.FixtureRequest):
    order: list[int] = []

    async def run(row: Json) -> Json:
        order.append(row["number"])
        return {"reward": 1.0}

    await collected(tmp_path, run, request)(dispatched(9)[::-1], concurrency=3)
    assert order == list(range(9))[::-1]


async def test_cancelling_gives_up_what_is_in_flight_and_keeps_what_is_written(tmp_path: Path, request: pytest.FixtureRequest):
    hanging, given_up = asyncio.Barrier(3), 0

    async def run(row: Json) -> Json:
        nonlocal given_up
        if row["number"] < 4:
            return {"reward": 1.0}
        try:
            await hanging.wait()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            given_up += 1
            raise
        raise AssertionError

    it = collected(tmp_path, run, request)
    collecting = asyncio.create_task(it(dispatched(9), concurrency=2))
    async with asyncio.timeout(5):
        await hanging.wait()
        collecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await collecting
    assert given_up == 2
    assert [row["number"] for row in it.rows] == [0, 1, 2, 3]


async def test_a_row_that_cannot_be_written_stops_the_run_and_what_is_written_stays(
    tmp_path: Path, request: pytest.FixtureRequest
):
    asked: list[int] = []

    async def run(row: Json) -> Json:
        asked.append(row["number"])
        return {"reward": 1.0}

    it = collected(tmp_path, run, request)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OutputError, match="cannot be written: File too large"):
            await it(dispatched(9, text="x" * 40_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert asked == [0, 1, 2]
    assert [row["number"] for row in it.rows] == [0, 1]


# What is written


async def test_a_scored_row_is_the_dispatched_row_and_what_the_agent_adds(sums: Collected):
    (row,) = dispatched(1, extra={"a": None})
    await sums([row])
    assert sums.rows == [row | {"reward": 0, "response": {"output": []}}]
    assert sums.failures == []
    assert sums.scored.rows() == [{"reward": 0}]
    assert sums.seen.ended == [((0, 0), False)]


async def test_a_failed_row_is_the_dispatched_row_with_the_failure_and_its_circumstances(sums: Collected):
    (row,) = dispatched(1, "failed")
    before = datetime.now(UTC)
    await sums([Task(row, FailedBefore(2, False, row))])
    (failed,) = sums.failures
    assert {key: failed.pop(key) for key in row} == row
    assert (
        timedelta(0)
        <= datetime.fromisoformat(failed.pop("failed_at")) - before + timedelta(milliseconds=1)
        < timedelta(seconds=5)
    )
    assert 0 <= failed.pop("duration_seconds") < 5
    assert failed == {
        "_ng_failure_class": "sum_failed",
        "_ng_attempt_index": 2,
        "error": "it does not add up",
        "reward": 0.0,
        "mask_sample": True,
    }
    assert sums.rows == []
    assert len(sums.scored) == 0
    assert sums.seen.ended == [((0, 0), True)]


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("status", "sums/run: HTTP 500: out of order"),
        ("crash", "sums/run: HTTP 500: ZeroDivisionError: nothing to divide by"),
        ("garbage", "sums/run: HTTP 200: the answer is no JSON: b'<html>hello</html>'"),
        ("list", "sums answered without a reward"),
        ("no_reward", "sums answered without a reward"),
        ("null_reward", "sums answered without a reward"),
        ("true_reward", "sums answered without a reward"),
    ],
)
async def test_an_agent_that_fails_by_itself_is_an_agent_run_error_and_the_run_goes_on(sums: Collected, word: str, told: str):
    rows = dispatched(3)
    rows[1]["calls"] = [word]
    await sums(rows)
    assert [row["number"] for row in sums.rows] == [0, 2]
    (failed,) = sums.failures
    assert failed["number"] == 1
    assert (failed["_ng_failure_class"], failed["error"]) == ("agent_run_error", told)
    assert (failed["reward"], failed["mask_sample"], failed["_ng_attempt_index"]) == (0.0, True, 0)


async def test_an_agent_that_says_no_more_than_that_it_failed_is_believed(sums: Collected):
    (row,) = dispatched(1, "bare_failure")
    await sums([row])
    (failed,) = sums.failures
    assert row.items() <= failed.items()
    assert (failed["_ng_failure_class"], failed["error"]) == ("sum_failed", "it does not add up")
    assert (failed["reward"], failed["mask_sample"]) == (0.0, True)


@pytest.mark.parametrize(("failure_class", "kept"), [("judge_failed", True), ("sum_failed", False)])
async def test_a_response_is_kept_only_of_a_row_whose_judging_alone_is_missing(tmp_path, request, failure_class, kept):
    async def run(row: Json) -> Json:
        return {"_ng_failure_class": failure_class, "error": "gone", "response": {"output": []}}

    it = collected(tmp_path, run, request)
    await it(dispatched(1))
    (failed,) = it.failures
    assert ("response" in failed) == kept


async def test_the_next_attempt_at_a_failed_judging_inherits_nothing_of_the_failure():
    (row,) = dispatched(1, instance_config={"limit": 3})
    failure = {"_ng_failure_class": "judge_failed", "error": "gone", "failure_kind": "judge_failed", "failure_reason": "gone"}
    mask = {"mask_sample": True, "instance_config": {"limit": 3, "mask_sample": True}}
    talk: Json = {"response": {"output": []}}
    assert Task(row, FailedBefore(1, False, row | failure | mask | talk)).judged_again() == row | talk
    bare = {key: value for key, value in row.items() if key != "instance_config"}
    failed = bare | failure | {"instance_config": {"mask_sample": True}} | talk
    assert Task(bare, FailedBefore(1, False, failed)).judged_again() == bare | talk


async def test_an_agent_cannot_say_that_a_row_was_another_rollout(sums: Collected):
    await sums(dispatched(3, "other_keys"))
    assert [key_of(row) for row in sums.rows] == [(0, 0), (1, 0), (2, 0)]


# Trying again


async def test_a_conversation_that_only_the_judge_failed_is_judged_again_and_not_simulated(sums: Collected, root: SumsRoot):
    (row,) = dispatched(1, "judge_failed", "scored")
    await sums([row])
    (failed,) = sums.failures
    await sums([Task(row, FailedBefore(1, False, failed))])
    assert root.calls() == ["run 0 0", "verify 0 0"]
    (scored,) = sums.rows
    assert scored == row | {"conversation": [{"turn": 1}], "reward": 0, "response": {"output": []}}


async def test_a_judge_that_fails_again_leaves_the_conversation_to_be_judged_once_more(sums: Collected, root: SumsRoot):
    (row,) = dispatched(1, "judge_failed", "judge_failed", "status", "garbage", "scored")
    failed = None
    for attempt in range(5):
        await sums([Task(row, failed)])
        failed = FailedBefore(attempt + 1, False, sums.failures[-1])
    assert root.calls() == ["run 0 0", *["verify 0 0"] * 4]
    assert [row["_ng_attempt_index"] for row in sums.failures] == [0, 1, 2, 3]
    assert {row["_ng_failure_class"] for row in sums.failures} == {"judge_failed"}
    assert "out of order" in sums.failures[2]["error"]
    assert len(sums.rows) == 1


@pytest.mark.parametrize(
    "last",
    [
        {"_ng_failure_class": "judge_failed"},
        {"_ng_failure_class": "judge_failed", "response": None},
        {"_ng_failure_class": "sum_failed", "response": {"output": []}},
    ],
)
async def test_any_other_failure_is_run_again_from_the_row(sums: Collected, root: SumsRoot, last: Json):
    (row,) = dispatched(1)
    await sums([Task(row, FailedBefore(1, False, row | last | {"error": "old"}))])
    assert root.calls() == ["run 0 0"]
    assert sums.rows == [row | {"reward": 0, "response": {"output": []}}]


async def test_without_a_verifier_a_failed_judging_is_run_again(root: SumsRoot, tmp_path: Path):
    (row,) = dispatched(1)
    last = row | {"_ng_failure_class": "judge_failed", "response": {"output": []}}
    async with running(root.instances()) as calls:
        it = Collected(tmp_path, calls, verifier=None)
        await it([Task(row, FailedBefore(1, False, last))])
        it.close()
    assert root.calls() == ["run 0 0"]
