# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One evaluation: the files of a run, and how it is stopped."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from gym_host.errors import UserError
from gym_host.runs.keys import key_of
from tests.support.components import read_jsonl, snapshot, sum_row, until
from tests.support.sums import Bench, Json, numbers

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
