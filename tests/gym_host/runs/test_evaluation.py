# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One evaluation: the files of a run, going on with it, and what is refused."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gym_host.errors import UserError
from gym_host.runs.attempts import run_attempt
from gym_host.runs.evaluation import Evaluation, Outcome, evaluate
from gym_host.runs.replacing import kept_as
from gym_host.runs.run_files import RunFiles, key_of
from gym_host.runs.tasks import Plan, materialize
from gym_host.serving.local import running
from tests.support.components import SumsRoot, read_jsonl, snapshot, sum_row, until, write_jsonl

Json = dict[str, Any]


class Bench:
    """The benchmark `sums`, and the files of one run of it."""

    def __init__(self, folder: Path) -> None:
        self.root = SumsRoot(folder / "root")
        self.files = RunFiles.of(folder / "results" / "x.jsonl")
        self.said = io.StringIO()

    def evaluation(self, *, plan: Json | None = None, agent: Json | None = None, **more: Any) -> Evaluation:
        rows = materialize(self.root.rows, Plan("sums", "sums", **(plan or {})))
        instances = self.root.instances(**(agent or {}))
        return Evaluation(
            servers=lambda: running(instances),
            instances=instances,
            attempt=lambda calls: run_attempt(calls, "sums", "sums_verifier"),
            agent="sums",
            scorer="sums",
            rows=rows,
            files=self.files,
            **{"concurrency": 2, **more},
        )

    async def run(self, **more: Any) -> Outcome:
        async with asyncio.timeout(20):
            return await evaluate(self.evaluation(**more), Console(file=self.said, width=80, color_system=None))

    async def refused(self, **more: Any) -> str:
        """What a run is refused for; no file is touched by it."""
        before = snapshot(self.files.rollouts.parent)
        with pytest.raises(UserError) as caught:
            await self.run(**more)
        assert snapshot(self.files.rollouts.parent) == before
        return str(caught.value)

    @property
    def rows(self) -> list[Json]:
        return read_jsonl(self.files.rollouts)

    @property
    def failures(self) -> list[Json]:
        return read_jsonl(self.files.failures)

    @property
    def record(self) -> Json:
        record: Json = json.loads(self.files.run.read_bytes())
        return record

    @property
    def metrics(self) -> Json:
        (entry,) = json.loads(self.files.metrics.read_bytes())
        return dict(entry)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def break_first_line(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"{", b"(", 1))


def numbers(rows: list[Json]) -> list[int]:
    return [row["number"] for row in rows]


# A run


async def test_a_run_leaves_its_five_files_with_every_row_scored_in_order(bench: Bench):
    bench.root.write(sum_row(number) for number in range(7))
    outcome = await bench.run(plan={"num_repeats": 2, "interleave_repeats": True}, concurrency=5)
    assert (outcome.planned, outcome.scored, outcome.failures.total(), outcome.complete) == (14, 14, 0, True)
    assert [key_of(row) for row in bench.rows] == [(task, rollout) for task in range(7) for rollout in (0, 1)]
    assert [key_of(row) for row in read_jsonl(bench.files.inputs)] == [(task, rollout) for rollout in (0, 1) for task in range(7)]
    assert bench.failures == []
    assert all(found.items() <= row.items() for found, row in zip(sorted_rows(bench.files.inputs), bench.rows, strict=True))
    assert sorted(path.name for path in bench.files.rollouts.parent.iterdir()) == sorted(path.name for path in bench.files.all)


def sorted_rows(path: Path) -> list[Json]:
    return sorted(read_jsonl(path), key=key_of)


async def test_the_metrics_file_has_an_entry_for_the_agent_with_the_counts(bench: Bench):
    bench.root.write([sum_row(1), sum_row(3), sum_row(5, "failed"), sum_row(7, "status")])
    await bench.run()
    assert bench.metrics == {
        "agent_ref": {"name": "sums"},
        "agent_metrics": {"mean/reward": 2.0, "count": 2},
        "key_metrics": {"mean/reward": 2.0, "count": 2},
        "group_level_metrics": [],
        "num_planned": 4,
        "num_scored": 2,
        "num_failed": 2,
        "failures_by_class": {"sum_failed": 1, "agent_run_error": 1},
        "complete": False,
        "measure": {"rater": None},
    }


async def test_the_record_tells_what_was_run_and_how_it_ended_and_no_key(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run(agent={"api_key": "sk-very-secret-0123456789", "bonus": 2.0})
    record = bench.record
    assert (record["status"], record["concurrency"]) == ("complete", 2)
    assert record["counts"] == {"planned": 1, "scored": 1, "failed": {}}
    assert record["started_at"] <= record["ended_at"]
    assert record["identity"]["servers"]["sums"]["settings"]["bonus"] == 2.0
    assert record["identity"]["servers"]["sums"]["about"] == {"greeting": "hello"}
    assert "very-secret" not in "".join(map(str, snapshot(bench.files.rollouts.parent).values()))


async def test_the_record_keeps_the_words_that_chose_the_configuration_as_they_first_were(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run(configuration={"benchmark": ["sums"]})
    assert bench.record["configuration"] == {"benchmark": ["sums"]}
    await bench.run(resume=True, configuration={"config": ["benchmarks/sums/config.yaml"]})
    assert bench.record["configuration"] == {"benchmark": ["sums"]}


async def test_only_what_was_asked_for_is_attempted_and_the_rest_is_said_to_be_left_out(bench: Bench):
    bench.root.write([sum_row(0), sum_row(1, "failed"), sum_row(2), sum_row(3)])
    outcome = await bench.run(only={(0, 0), (1, 0)}, max_attempts=1)
    assert bench.root.calls() == ["run 0 0", "run 1 0"]
    assert (outcome.planned, outcome.scored, outcome.given_up, outcome.left_out) == (4, 1, 1, 2)
    outcome = await bench.run(resume=True)
    assert (outcome.scored, outcome.given_up, outcome.left_out) == (3, 0, 0)


async def test_carried_rows_are_taken_over_once_and_not_attempted(bench: Bench):
    bench.root.write([sum_row(0), sum_row(1)])
    carried = [row | {"reward": 7.0} for row in bench.evaluation().rows]
    assert not (await bench.run(carried=carried[:1], only=set())).complete
    for _ in range(2):
        outcome = await bench.run(carried=carried, resume=True)
    assert (outcome.complete, bench.rows, bench.root.calls()) == (True, carried, [])


async def test_metrics_are_not_asked_for_where_they_are_not_wanted(bench: Bench):
    bench.root.write([sum_row(1)])
    outcome = await bench.run(aggregate=False)
    assert (outcome.complete, outcome.metrics) == (True, None)
    assert not bench.files.metrics.exists()


async def test_metrics_that_cannot_be_computed_lose_no_rollout_and_the_run_has_ended(bench: Bench):
    bench.root.write([sum_row(1)])
    program = bench.root.path / "responses_api_agents/sums_agent/app.py"
    program.write_text(program.read_text().replace('"agent_metrics": metrics', '"other_metrics": metrics'))
    with pytest.raises(UserError, match="the metrics could not be computed"):
        await bench.run()
    assert numbers(bench.rows) == [1]
    assert bench.record["status"] == "complete"


async def test_the_first_failure_is_told_as_it_stands_and_once(bench: Bench):
    bench.root.write([sum_row(number, "brackets") for number in range(4)])
    outcome = await bench.run()
    told = "first failure: sum-0: sum_failed: unexpected [/INST] in [bold]the prompt[/] :warning:\n"
    assert bench.said.getvalue() == told
    assert (outcome.complete, outcome.failures) == (False, {"sum_failed": 4})


# What is in the way


async def test_files_that_are_there_are_not_touched_without_being_told(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    assert "x.jsonl is already there" in await bench.refused()
    for path in bench.files.all[:-1]:
        path.unlink()
    assert "x_run.json is already there" in await bench.refused()


async def test_overwriting_starts_anew(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2, "failed")])
    await bench.run()
    bench.root.write([sum_row(3)])
    await bench.run(overwrite=True)
    assert (numbers(bench.rows), bench.failures, numbers(read_jsonl(bench.files.inputs))) == ([3], [], [3])


async def test_what_is_overwritten_is_kept_until_the_new_run_has_scored_something(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    before = snapshot(bench.files.rollouts.parent)
    bench.root.write([sum_row(2, *["failed"] * 4, "scored")])
    for _ in range(2):
        assert (await bench.run(overwrite=True)).scored == 0
        after = snapshot(bench.files.rollouts.parent)
        assert {name: after[f"{name}.replaced"] for name in before} == before
        assert bench.record["counts"]["scored"] == 0
    assert f"what was to be replaced is kept as {bench.files.rollouts}.replaced" in bench.said.getvalue()
    await bench.run(resume=True)
    assert len(snapshot(bench.files.rollouts.parent)) == 10
    assert (await bench.run(resume=True, max_attempts=9)).scored == 1
    assert snapshot(bench.files.rollouts.parent).keys() == before.keys()
    assert numbers(bench.rows) == [2]


async def test_what_is_overwritten_goes_with_the_first_rollout_that_is_scored(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    bench.root.write([sum_row(2), sum_row(3, waits="gate")])
    second = asyncio.create_task(bench.run(overwrite=True))
    await until(lambda: len(bench.root.calls()) == 3 and bench.files.rollouts.exists() and len(bench.rows) == 1)
    assert not list(bench.files.rollouts.parent.glob("*.replaced"))
    bench.root.open("gate")
    assert (await second).complete


@pytest.mark.parametrize("moved", range(6))
async def test_overwriting_that_was_killed_while_it_made_room_is_done_again(bench: Bench, moved: int):
    bench.root.write([sum_row(1)])
    await bench.run()
    before = snapshot(bench.files.rollouts.parent)
    for path in bench.files.all[::-1][:moved]:
        path.replace(kept_as(path))
    bench.root.write([sum_row(2, "failed", "failed", "scored")])
    assert (await bench.run(overwrite=True)).scored == 0
    after = snapshot(bench.files.rollouts.parent)
    assert {name: after[f"{name}.replaced"] for name in before} == before
    assert (await bench.run(overwrite=True)).scored == 1
    assert snapshot(bench.files.rollouts.parent).keys() == before.keys()


async def test_what_is_to_be_overwritten_stays_until_it_is_certain_that_the_servers_start(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    assert "bonus" in await bench.refused(overwrite=True, agent={"bonus": "much"})


async def test_a_second_run_of_the_same_files_is_refused_while_the_first_goes_on(bench: Bench):
    bench.root.write([sum_row(1, waits="gate")])
    first = asyncio.create_task(bench.run())
    await until(lambda: bench.root.calls() != [])
    assert "another run is writing" in await bench.refused(resume=True)
    bench.root.open("gate")
    assert (await first).complete


# Going on


async def test_rollouts_of_another_run_can_be_the_rows_of_one_that_is_gone_on_with(bench: Bench):
    bench.root.write([sum_row(1, rater="anna", reward=-5.0), sum_row(2, reward=-5.0)])
    await bench.run()
    assert [row["reward"] for row in bench.rows] == [1.0, 2.0]
    assert (await bench.run(resume=True)).complete


async def test_a_scored_rollout_is_never_run_again_and_a_failed_one_is(bench: Bench):
    bench.root.write([sum_row(0), sum_row(1, "failed", "scored"), sum_row(2), sum_row(3, "status", "failed", "scored")])
    assert (await bench.run()).scored == 2
    started = bench.record["started_at"]
    assert (await bench.run(resume=True)).scored == 3
    outcome = await bench.run(resume=True)
    assert (outcome.scored, outcome.complete, outcome.failures) == (4, True, {})
    assert sorted(bench.root.calls()) == ["run 0 0"] + ["run 1 0"] * 2 + ["run 2 0"] + ["run 3 0"] * 3
    assert numbers(bench.rows) == [0, 1, 2, 3]
    assert [(row["number"], row["_ng_attempt_index"]) for row in bench.failures] == [(1, 0), (3, 0), (3, 1)]
    assert bench.record["started_at"] == started
    assert bench.metrics["num_failed"] == 0


async def test_a_rollout_is_given_up_after_so_many_attempts_or_when_its_failure_is_final(bench: Bench):
    bench.root.write([sum_row(0, "failed"), sum_row(1, "terminal", "scored"), sum_row(2)])
    outcomes = [await bench.run(resume=True, max_attempts=3) for _ in range(5)]
    assert sorted(bench.root.calls()) == ["run 0 0"] * 3 + ["run 1 0", "run 2 0"]
    assert {(outcome.scored, outcome.complete, outcome.failures["sum_failed"]) for outcome in outcomes} == {(1, False, 2)}
    assert (await bench.run(resume=True, max_attempts=4)).scored == 1
    assert bench.root.calls().count("run 0 0") == 4


async def test_a_conversation_that_only_the_judge_failed_goes_to_the_verifier_alone(bench: Bench):
    bench.root.write([sum_row(0, "judge_failed", "judge_failed", "scored"), sum_row(1)])
    outcomes = [await bench.run(resume=True) for _ in range(3)]
    assert [outcome.failures["judge_failed"] for outcome in outcomes] == [1, 1, 0]
    assert [call for call in bench.root.calls() if call.endswith(" 0 0")] == ["run 0 0", "verify 0 0", "verify 0 0"]
    assert outcomes[-1].complete


async def test_with_nothing_left_to_do_the_metrics_are_computed_all_the_same(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run(aggregate=False)
    before = bench.files.rollouts.read_bytes()
    outcome = await bench.run(resume=True)
    assert (outcome.complete, bench.metrics["num_scored"]) == (True, 1)
    assert bench.files.rollouts.read_bytes() == before
    assert bench.root.calls() == ["run 0 0"]


async def test_going_on_where_nothing_was_begun_is_a_beginning(bench: Bench):
    bench.root.write([sum_row(1)])
    assert (await bench.run(resume=True)).complete


async def test_the_speed_and_the_key_may_change_between_two_runs(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2, "failed", "scored")])
    await bench.run(agent={"api_key": "sk-first-0123456789"})
    outcome = await bench.run(resume=True, concurrency=9, agent={"api_key": "sk-other-0123456789", "num_concurrent_requests": 1})
    assert outcome.complete


async def test_an_address_may_be_corrected_as_long_as_nothing_is_scored(bench: Bench):
    bench.root.write([sum_row(1, "failed", "failed", "scored")])
    await bench.run(agent={"base_url": "http://mistyped/v1"})
    said = await bench.refused(resume=True, agent={"base_url": "http://right/v1", "bonus": 1.0})
    assert "servers.sums.settings.bonus" in said
    assert "base_url" not in said
    await bench.run(resume=True, agent={"base_url": "http://right/v1"})
    assert "http://right/v1" in bench.files.run.read_text()
    assert (await bench.run(resume=True, agent={"base_url": "http://again/v1"})).complete
    assert "base_url was 'http://again/v1', now None" in await bench.refused(resume=True)


async def test_the_address_that_finished_conversations_were_made_at_may_not_be_corrected(bench: Bench):
    bench.root.write([sum_row(1, "judge_failed", "judge_failed", "scored")])
    await bench.run(agent={"base_url": "http://first/v1"})
    with bench.files.failures.open("a") as failures:
        failures.write('{"half a li')
    named = "servers.sums.settings.base_url was 'http://first/v1', now 'http://second/v1'"
    verifier = frozenset({"sums_verifier"})
    for judging in (frozenset[str](), verifier):
        assert named in await bench.refused(resume=True, agent={"base_url": "http://second/v1"}, judging=judging)
    assert bench.record["identity"]["servers"]["sums"]["settings"]["base_url"] == "http://first/v1"
    await bench.run(resume=True, agent={"base_url": "http://first/v1"}, judging=verifier)
    assert [failure["_ng_attempt_index"] for failure in bench.failures] == [0, 1]


async def test_the_address_of_what_only_judges_may_be_corrected_until_something_is_scored(bench: Bench):
    bench.root.write([sum_row(1, "judge_failed", "judge_failed", "scored")])
    # The other way round, so that the agent's address stands for a judge's.
    await bench.run(agent={"base_url": "http://mistyped/v1"})
    await bench.run(resume=True, agent={"base_url": "http://right/v1"}, judging=frozenset({"sums"}))
    assert "http://right/v1" in bench.files.run.read_text()
    assert (await bench.run(resume=True, agent={"base_url": "http://right/v1"})).complete
    said = await bench.refused(resume=True, agent={"base_url": "http://third/v1"}, judging=frozenset({"sums"}))
    assert "base_url was 'http://right/v1'" in said


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"agent": {"bonus": 1.0}}, "servers.sums.settings.bonus was None, now 1.0"),
        ({"agent": {"greeting": "hi"}}, "servers.sums.about.greeting was 'hello', now 'hi'"),
        ({"plan": {"num_repeats": 2}}, "rows.num_repeats was 1, now 2"),
        ({"plan": {"limit": 1}}, "rows.tasks was 2, now 1"),
        ({"plan": {"params": {"temperature": 0.0}}}, "rows.responses_create_params.temperature was None, now 0.0"),
    ],
)
async def test_another_run_is_not_gone_on_with_and_what_differs_is_named(bench: Bench, change: Json, named: str):
    bench.root.write([sum_row(1), sum_row(2)])
    await bench.run()
    said = await bench.refused(resume=True, **change)
    assert "this is the output of another run" in said
    assert named in said


async def test_rows_whose_text_has_changed_are_another_run(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2)])
    await bench.run()
    bench.root.write([sum_row(1), sum_row(3)])
    assert "rows.sha256 was" in await bench.refused(resume=True)


@pytest.mark.parametrize("kept", ["rollouts", "failures"])
async def test_files_of_which_nothing_says_what_they_are_are_not_gone_on_with(bench: Bench, kept: str):
    bench.root.write([sum_row(1), sum_row(2, "failed")])
    await bench.run()
    for path in bench.files.all:
        if path != getattr(bench.files, kept):
            path.unlink()
    assert f"{getattr(bench.files, kept)} is there without x_run.json" in await bench.refused(resume=True)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"identity": {}}'])
async def test_a_record_that_cannot_be_read_is_not_gone_on_with(bench: Bench, content: str):
    bench.root.write([sum_row(1)])
    await bench.run()
    bench.files.run.write_text(content)
    assert "x_run.json" in await bench.refused(resume=True)


async def test_rows_as_dispatched_that_are_gone_are_written_again(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2, "failed", "scored")])
    await bench.run()
    before = bench.files.inputs.read_bytes()
    bench.files.inputs.unlink()
    await bench.run(resume=True)
    assert bench.files.inputs.read_bytes() == before


async def test_a_torn_last_line_is_put_aside_and_its_rollout_run_again(bench: Bench):
    bench.root.write(sum_row(number) for number in range(3))
    await bench.run(concurrency=1)
    whole = bench.files.rollouts.read_bytes()
    bench.files.rollouts.write_bytes(whole[:-20])
    assert (await bench.run(resume=True)).complete
    assert bench.files.rollouts.read_bytes() == whole
    (torn,) = bench.files.rollouts.parent.glob("x.jsonl.torn-*")
    assert whole.endswith(torn.read_bytes() + whole[-20:])
    assert f"half a line at the end of the file was put aside as {torn}\n" in bench.said.getvalue()
    assert bench.root.calls() == ["run 0 0", "run 1 0", "run 2 0", "run 2 0"]


async def test_a_torn_failure_is_put_aside_and_not_counted_as_an_attempt(bench: Bench):
    bench.root.write([sum_row(0, "failed", "failed", "scored")])
    await bench.run()
    bench.files.failures.write_bytes(bench.files.failures.read_bytes()[:-9])
    await bench.run(resume=True, max_attempts=1)
    assert [row["_ng_attempt_index"] for row in bench.failures] == [0]
    assert bench.root.calls() == ["run 0 0"] * 2


@pytest.mark.parametrize("which", ["rollouts", "failures"])
async def test_a_broken_line_elsewhere_is_named_and_nothing_is_run(bench: Bench, which: str):
    bench.root.write([sum_row(0), sum_row(1), sum_row(2, "failed"), sum_row(3, "failed")])
    await bench.run()
    path: Path = getattr(bench.files, which)
    break_first_line(path)
    calls = bench.root.calls()
    assert f"where: {path}, line 1\n" in await bench.refused(resume=True)
    assert bench.root.calls() == calls


async def test_a_rollout_that_is_none_of_the_run_is_refused(bench: Bench):
    bench.root.write([sum_row(0)])
    await bench.run()
    with bench.files.rollouts.open("a") as file:
        file.write('{"_ng_task_index": 7, "_ng_rollout_index": 0, "reward": 1}\n')
    said = await bench.refused(resume=True)
    assert "the rollout (7, 0) is not among the rows of this run" in said
    assert "x.jsonl, line 2" in said


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "sum-9"}, "has another `id` than its row"),
        ({"responses_create_params": {"input": ["x"]}}, "has another `responses_create_params` than its row"),
        ({"agent_ref": {"name": "somebody"}}, "has another `agent_ref` than its row"),
        ({"rater": "nobody"}, "has another `rater` than its row"),
        ({"reward": None}, "has no score"),
        ({"reward": "0.5"}, "has no score"),
        ({"_ng_failure_class": "sum_failed"}, "has no score"),
    ],
)
async def test_a_rollout_that_somebody_changed_is_refused_by_its_line(bench: Bench, change: Json, words: str):
    bench.root.write([sum_row(0), sum_row(1, rater="anna"), sum_row(2)])
    await bench.run(concurrency=1)
    lines = bench.rows
    lines[1] |= change
    write_jsonl(bench.files.rollouts, lines)
    said = await bench.refused(resume=True)
    assert f"the rollout (1, 0) {words}" in said
    assert f"{bench.files.rollouts}, line 2" in said
    write_jsonl(bench.files.rollouts, [lines[0], lines[2]])
    assert (await bench.run(resume=True)).complete
    assert bench.root.calls().count("run 1 0") == 2


# Signals and cancelling


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_run_with_what_is_scored_so_far(bench: Bench, number: signal.Signals):
    bench.root.write([sum_row(2), sum_row(1), sum_row(0, waits="gate"), sum_row(3)])
    running = asyncio.create_task(bench.run(concurrency=1))
    await until(lambda: len(bench.root.calls()) == 3)
    os.kill(os.getpid(), number)
    outcome = await running
    assert (outcome.interrupted, outcome.scored, outcome.planned, outcome.complete) == (True, 2, 4, False)
    assert (bench.record["status"], bench.record["counts"]["scored"]) == ("interrupted", 2)
    assert numbers(bench.rows) == [2, 1]
    bench.root.open("gate")
    assert (await bench.run(resume=True)).complete
    assert [bench.root.calls().count(f"run {task} 0") for task in range(4)] == [1, 1, 2, 1]


async def test_who_cancels_an_evaluation_has_it_cancelled(bench: Bench):
    bench.root.write([sum_row(0, waits="gate")])
    running = asyncio.create_task(bench.run())
    await until(lambda: bench.root.calls() != [])
    running.cancel()
    async with asyncio.timeout(5):
        with pytest.raises(asyncio.CancelledError):
            await running
    assert not bench.files.lock.exists()
    assert not bench.files.metrics.exists()
