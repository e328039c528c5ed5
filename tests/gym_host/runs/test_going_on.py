# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Going on with the files of a run, and what is not gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_host.runs.run_record import begin
from tests.support.components import sum_row, write_jsonl
from tests.support.sums import Bench, Json, break_first_line, numbers


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


async def test_a_run_that_goes_on_has_no_end_until_it_ends_again(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    began = bench.record["started_at"]
    begin(bench.files, bench.record, concurrency=2)
    assert bench.record["status"] == "running"
    assert (bench.record["started_at"], bench.record.get("ended_at")) == (began, None)
    await bench.run(resume=True)
    assert bench.record["ended_at"]


async def test_a_rollout_is_given_up_after_so_many_attempts_or_when_its_failure_is_final(bench: Bench):
    bench.root.write([sum_row(0, "failed"), sum_row(1, "terminal", "scored"), sum_row(2)])
    outcomes = [await bench.run(resume=True, max_attempts=3) for _ in range(5)]
    assert sorted(bench.root.calls()) == ["run 0 0"] * 3 + ["run 1 0", "run 2 0"]
    assert {(outcome.scored, outcome.complete, outcome.failures["sum_failed"]) for outcome in outcomes} == {(1, False, 2)}
    assert (await bench.run(resume=True, max_attempts=4)).scored == 1
    assert bench.root.calls().count("run 0 0") == 4


async def test_a_row_that_the_agent_cannot_read_is_not_tried_again(bench: Bench):
    bench.root.write([sum_row(0, "unreadable", "scored"), sum_row(1)])
    assert (await bench.run()).given_up == 1
    assert (await bench.run(resume=True)).failures == {"agent_run_error": 1}
    assert bench.root.calls().count("run 0 0") == 1
    assert bench.failures[0]["_ng_failure_terminal"] is True


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


async def test_the_order_of_dispatch_may_change_between_two_runs(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2, "failed", "scored")])
    await bench.run(plan={"num_repeats": 2, "interleave_repeats": True})
    assert (await bench.run(resume=True, plan={"num_repeats": 2})).complete


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


async def test_what_an_endpoint_refused_may_be_corrected_as_long_as_nothing_is_scored_and_costs_no_attempt(bench: Bench):
    bench.root.write([sum_row(1, "failed", "failed", "failed", "failed", "scored"), sum_row(2, "terminal", "terminal", "scored")])
    await bench.run(plan={"params": {"temperature": 0.3}}, agent={"model": "mistyped"}, max_attempts=2)
    before = bench.record["identity"]["rows"]
    for change in ({"agent": {"bonus": 1.0}}, {"plan": {"num_repeats": 2}}, {"plan": {"limit": 1}}):
        assert "this is the output of another run" in await bench.refused(resume=True, **change)
    for plan in ({"params": {"temperature": 0.3}}, {}):
        await bench.run(resume=True, plan=plan, agent={"model": "right"}, max_attempts=2)
    assert bench.record["identity"]["rows"] != before
    assert bench.record["identity"]["servers"]["sums"]["settings"]["model"] == "right"
    assert sorted(bench.root.calls()) == ["run 0 0"] * 3 + ["run 1 0"] * 3
    assert [row["number"] for row in bench.rows] == [2]
    said = await bench.refused(resume=True, plan={"params": {"temperature": 0.3}}, agent={"model": "right"})
    assert "rows.responses_create_params.temperature was None, now 0.3" in said
    outcome = await bench.run(resume=True, agent={"model": "right"}, max_attempts=2)
    assert (outcome.scored, outcome.given_up) == (1, 1)
    assert [row["_ng_attempt_index"] for row in bench.failures if row["number"] == 1] == [0, 1, 2, 3]


async def test_what_is_asked_of_the_model_may_not_be_corrected_once_a_conversation_is_finished(bench: Bench):
    bench.root.write([sum_row(1, "judge_failed", "scored")])
    await bench.run()
    said = await bench.refused(resume=True, plan={"params": {"temperature": 0.3}})
    assert "rows.responses_create_params.temperature was None, now 0.3" in said


async def test_other_rows_are_another_run_though_nothing_is_scored(bench: Bench):
    bench.root.write([sum_row(1, "failed")])
    await bench.run()
    bench.root.write([sum_row(2, "failed")])
    assert "rows.sha256 was" in await bench.refused(resume=True)


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
