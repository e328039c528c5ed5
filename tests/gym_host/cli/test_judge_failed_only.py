# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval reverify --judge-failed-only`: into a run of its own, and into the run itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import SumsRoot, read_jsonl, sum_row, write_jsonl
from tests.support.reverified import SUMS, VERIFIER, X, Y, change, metrics, numbers, record, reverify, run

HALF = (sum_row(1), sum_row(2, "judge_failed", "scored"), sum_row(3, "failed"), sum_row(4))


def test_judgings_that_failed_are_made_up_for_and_all_else_is_carried_over_as_it_is(gym: Gym, sums: SumsRoot):
    run(gym, sums, *HALF)
    said = gym(*reverify("--judge-failed-only"))
    assert said.code == 1
    assert said.out.startswith("INCOMPLETE: 1 of 4 rollouts has no score.\n  1 left out: unfinished,")
    assert "next: finish the run that the conversations come from" in said.out
    assert said.err.startswith("judging 1 conversation again")
    assert sums.calls()[4:] == ["verify 1 0"]
    assert numbers(Y.rollouts) == [1, 2, 4]
    old, new = X.rollouts.read_bytes().splitlines(), Y.rollouts.read_bytes().splitlines()
    assert [new[0], new[2]] == old
    recovered = read_jsonl(Y.rollouts)[1]
    assert (recovered["reward"], recovered["conversation"]) == (2.0, [{"turn": 1}])
    assert not {"_ng_failure_class", "mask_sample", "error", "failure_stage", "_ng_attempt_index"} & set(recovered)
    assert metrics(Y)["agent_metrics"]["count"] == 3
    assert read_jsonl(Y.inputs) == read_jsonl(X.inputs)
    assert record(Y)["identity"]["judge_failed_only"] is True


def test_the_last_failure_of_a_rollout_says_whether_only_its_judging_is_missing(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2, "judge_failed"), sum_row(3, "failed"))
    (second, third) = read_jsonl(X.failures)
    write_jsonl(X.failures, [second, third, third | second | {"_ng_task_index": 2, "id": "sum-3", "number": 3}])
    assert gym(*reverify("--judge-failed-only", "--disable-aggregation")).err.startswith("judging 2 conversations")
    write_jsonl(X.failures, [second, third, {key: second[key] for key in second if key != "response"}])
    assert "there are no failed judgings" in gym.refuses(*reverify("--judge-failed-only", output=Path("results/z.jsonl")))


def test_a_limit_of_failed_judgings_leaves_the_rest_missing(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1, "judge_failed", "scored"), sum_row(2, "judge_failed", "scored"), sum_row(3))
    assert gym(*reverify("--judge-failed-only", "--limit", "1")).code == 1
    assert numbers(Y.rollouts) == [1, 3]
    assert gym(*reverify("--judge-failed-only", "--resume")).code == 0
    assert numbers(Y.rollouts) == [1, 2, 3]
    assert sums.calls()[3:] == ["verify 0 0", "verify 1 0"]


def test_rows_are_carried_over_only_beside_those_of_the_same_judge_and_nothing_is_judged_otherwise(gym: Gym, sums: SumsRoot):
    run(gym, sums, *HALF)
    said = gym.refuses(*reverify("--judge-failed-only", f"{VERIFIER}.bonus=3"))
    assert "rows that would be kept were scored otherwise: servers.sums_verifier.settings.bonus was None, now 3" in said
    assert "where: results/x_run.json" in said
    assert "leave --judge-failed-only out" in said
    assert "about.greeting was 'hello', now 'hi'" in gym.refuses(*reverify("--judge-failed-only", f"{VERIFIER}.greeting=hi"))
    assert gym(*reverify("--judge-failed-only", "--disable-aggregation")).code == 1
    assert "bonus was None, now 3" in gym.refuses(*reverify("--judge-failed-only", "--overwrite", f"{VERIFIER}.bonus=3"))
    assert sums.calls()[4:] == ["verify 1 0"]


def test_rows_of_nobody_knows_which_judge_are_not_carried_over(gym: Gym, sums: SumsRoot):
    run(gym, sums, *HALF)
    X.run.unlink()
    said = gym.refuses(*reverify("--judge-failed-only"))
    assert "results/x.jsonl is there without x_run.json, so it cannot be told what scored its rows" in said
    assert gym(*reverify()).code == 1


def test_where_nothing_is_carried_over_another_judge_may_make_up_for_what_the_first_one_failed_on(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1, "judge_failed", "scored"))
    assert gym(*reverify("--judge-failed-only", f"{VERIFIER}.bonus=3")).code == 0
    assert [row["reward"] for row in read_jsonl(Y.rollouts)] == [4.0]


# Adding to the run itself


def append(*words: str) -> tuple[str | Path, ...]:
    return reverify("--judge-failed-only", "--append", *words, output=X.rollouts)


def test_recovered_judgings_are_added_to_the_run_once_and_it_stays_the_run_that_it_was(gym: Gym, sums: SumsRoot):
    run(gym, sums, *HALF)
    before = record(X)
    said = gym(*append())
    assert (said.code, said.out.splitlines()[0]) == (1, "INCOMPLETE: 1 of 4 rollouts has no score.")
    assert numbers(X.rollouts) == [1, 2, 4]
    assert [metrics(X)[name] for name in ("num_planned", "num_scored", "num_failed", "complete")] == [4, 3, 1, False]
    assert record(X)["identity"] == before["identity"]
    assert record(X)["configuration"] == before["configuration"]
    assert "there are no failed judgings" in gym.refuses(*append())
    assert gym("eval", "run", *SUMS, "--output", X.rollouts, "--resume").code == 1  # What is scored stays.
    assert sums.calls()[4:] == ["verify 1 0", "run 2 0"]


def test_nothing_is_added_to_a_run_by_another_judge(gym: Gym, sums: SumsRoot):
    run(gym, sums, *HALF)
    assert "servers.sums_verifier.settings.bonus was None, now 3" in gym.refuses(*append(f"{VERIFIER}.bonus=3"))
    assert "about.greeting was 'hello', now 'hi'" in gym.refuses(*append(f"{VERIFIER}.greeting=hi"))


def test_nothing_is_added_to_a_run_whose_record_knows_no_such_judge(gym: Gym, sums: SumsRoot):
    run(gym, sums, *HALF)
    changed = record(X)
    changed["identity"]["servers"]["another_verifier"] = changed["identity"]["servers"].pop("sums_verifier")
    X.run.write_text(json.dumps(changed))
    assert "servers.sums_verifier was None" in gym.refuses(*append())
    X.run.unlink()
    assert "results/x.jsonl is there without x_run.json" in gym.refuses(*append())


def test_a_judging_that_fails_again_is_one_more_attempt_of_the_run_and_can_be_tried_however_many_there_were(
    gym: Gym, sums: SumsRoot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", "1")
    run(gym, sums, sum_row(1), sum_row(2, "judge_failed", "status", "status", "scored"))
    change(X.failures, lambda rows: rows[0].update(simulation={"turns": 7}))
    said = gym(*append())
    assert said.code == 1
    assert "next: run the same command again" in said.out
    assert [row["_ng_attempt_index"] for row in read_jsonl(X.failures)] == [0, 1]
    assert [row["simulation"] for row in read_jsonl(X.failures)] == [{"turns": 7}] * 2
    assert [gym(*append()).code, gym(*append()).code] == [1, 0]
    assert numbers(X.rollouts) == [1, 2]
    assert read_jsonl(X.rollouts)[1]["simulation"] == {"turns": 7}
