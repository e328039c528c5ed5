# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval reverify`, with components that have nothing to do with VERA-MH."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gym_host.runs.keys import key_of
from tests.support.command import Gym
from tests.support.components import Json, SumsRoot, read_jsonl, snapshot, sum_row
from tests.support.reverified import SUMS, VERIFIER, X, Y, change, metrics, numbers, record, reverify, run

# Judging anew


def test_every_conversation_is_judged_anew_and_none_is_run_again(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2))
    before = snapshot(X.rollouts.parent)
    said = gym(*reverify(f"{VERIFIER}.bonus=10"))
    assert said.code == 0
    assert said.err == "judging 2 conversations again with sums_verifier, 2 at once -> results/y.jsonl\n"
    assert "2 of 2 rollouts scored, 0 failed." in said.out
    assert sums.calls() == ["run 0 0", "run 1 0", "verify 0 0", "verify 1 0"]
    assert [row["reward"] for row in read_jsonl(Y.rollouts)] == [11.0, 12.0]
    assert metrics(Y)["agent_metrics"] == {"mean/reward": 11.5, "count": 2}
    assert metrics(Y)["agent_ref"] == {"name": "sums"}
    assert snapshot(X.rollouts.parent).items() >= before.items()
    assert [path.exists() for path in Y.all] == [True] * 5
    assert read_jsonl(Y.inputs) == read_jsonl(X.inputs)


def test_what_the_verifier_does_not_say_is_kept_as_it_was(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    change(X.rollouts, lambda rows: rows[0].update(simulation={"turns": 7}, reward=-5.0))
    assert gym(*reverify()).code == 0
    (row,) = read_jsonl(Y.rollouts)
    assert (row["simulation"], row["reward"]) == ({"turns": 7}, 1.0)
    assert row == read_jsonl(X.rollouts)[0] | {"reward": 1.0}


def test_its_record_has_an_identity_of_its_own_with_the_servers_that_judge_and_no_other(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    gym(*reverify())
    identity = record(Y)["identity"]
    assert set(identity["servers"]) == {"sums_verifier"}
    assert len(identity["reverifies"]) == 64
    assert identity["judge_failed_only"] is False
    assert record(Y)["configuration"] == {"benchmark": ["sums"], "search_dir": ["root"]}
    assert record(Y)["counts"] == {"planned": 1, "scored": 1, "failed": {}}


def test_a_limit_counts_rollouts_in_order(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2), words=("--num-repeats", "2", "--interleave-repeats"))
    said = gym(*reverify("--limit", "3"))
    assert (said.code, "3 of 3 rollouts scored" in said.out) == (0, True)
    assert [key_of(row) for row in read_jsonl(Y.rollouts)] == [(0, 0), (0, 1), (1, 0)]
    assert len(read_jsonl(Y.inputs)) == 3


def test_a_run_that_is_not_whole_stays_so_when_it_is_judged_again(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2, "failed"), sum_row(3, "judge_failed"))
    said = gym(*reverify())
    assert said.code == 1
    first, second, *_ = said.out.splitlines()
    assert first == "INCOMPLETE: 2 of 3 rollouts have no score."
    assert second == "  2 left out: unfinished, beyond --limit, or unjudged (see --judge-failed-only)"
    assert said.out.splitlines()[-1].startswith("next: finish the run that the conversations come from")
    assert (numbers(Y.rollouts), metrics(Y)["complete"]) == ([1], False)


def test_no_metrics_are_computed_where_none_are_wanted(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    assert gym(*reverify("--disable-aggregation")).code == 0
    assert not Y.metrics.exists()


# Failures, and going on


def test_a_failed_judging_is_kept_with_its_conversation_and_without_the_old_verdict_and_judged_again(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2, "scored", "status", "scored"))
    said = gym(*reverify())
    assert said.code == 1
    assert said.out.startswith("INCOMPLETE: 1 of 2 rollouts has no score.\n  1 failed as judge_failed\n")
    assert "next: run the same command with --resume" in said.out
    (failed,) = read_jsonl(Y.failures)
    assert (failed["_ng_failure_class"], failed["reward"], failed["mask_sample"]) == ("judge_failed", 0.0, True)
    assert failed["response"] == {"output": []}
    assert gym(*reverify("--resume")).code == 0
    assert numbers(Y.rollouts) == [1, 2]
    assert "mask_sample" not in read_jsonl(Y.rollouts)[1]
    assert sums.calls()[2:] == ["verify 0 0", "verify 1 0", "verify 1 0"]


def test_a_judging_is_given_up_after_so_many_attempts(gym: Gym, sums: SumsRoot, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", "2")
    run(gym, sums, sum_row(1, "scored", "status"))
    said = [gym(*reverify("--resume")) for _ in range(3)]
    assert [each.code for each in said] == [1, 1, 1]
    assert sums.calls() == ["run 0 0", "verify 0 0", "verify 0 0"]
    assert "no attempts are left" in said[2].out


def test_what_is_there_is_refused_gone_on_with_or_replaced_as_one_says(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2))
    gym(*reverify())
    assert "results/y.jsonl is already there" in gym.refuses(*reverify())
    assert gym(*reverify("--resume")).code == 0
    assert len(sums.calls()) == 4
    assert gym(*reverify("--overwrite", "--limit", "1")).code == 0
    assert (numbers(Y.rollouts), len(sums.calls())) == ([1], 5)


def test_going_on_with_another_judge_or_other_rollouts_is_refused(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2))
    gym(*reverify())
    said = gym.refuses(*reverify("--resume", f"{VERIFIER}.bonus=1"))
    assert "servers.sums_verifier.settings.bonus was None, now 1" in said
    change(X.rollouts, lambda rows: rows[0].update(response={"output": [], "id": "another"}))
    assert "reverifies was" in gym.refuses(*reverify("--resume"))


# What is refused


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--append",), "add --judge-failed-only"),
        (("--resume", "--overwrite"), "exclude each other"),
        (("--judge-failed-only", "--append", "--resume"), "exclude each other"),
        (("--judge-failed-only", "--append", "--overwrite"), "exclude each other"),
        (("--judge-failed-only", "--append"), "can only be added to the run that they are of, results/x.jsonl"),
        (("--judge-failed-only",), "there are no failed judgings with a finished conversation to judge again"),
        (("--limit", "0"), "--limit"),
        (("--concurrency", "none"), "--concurrency"),
    ],
)
def test_words_that_do_not_go_together_are_refused(gym: Gym, sums: SumsRoot, words: tuple[str, ...], told: str):
    run(gym, sums, sum_row(1))
    assert told in gym.refuses(*reverify(*words))


@pytest.mark.parametrize("output", [X.rollouts, Path("results/../results/x.jsonl")])
def test_an_output_that_would_take_the_place_of_what_is_read_is_refused(gym: Gym, sums: SumsRoot, output: Path):
    run(gym, sums, sum_row(1), sum_row(2, "judge_failed"))
    said = gym.refuses(*reverify("--overwrite", output=output))
    assert "is one of the files that are read" in said


def test_inputs_that_lie_where_those_of_the_output_would_are_not_replaced(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    X.inputs.rename(Y.inputs)
    said = gym.refuses(
        "eval", "reverify", *SUMS, "--inputs", Y.inputs, "--rollouts", X.rollouts, "--output", Y.rollouts, "--overwrite"
    )
    assert f"{Y.inputs} is one of the files that are read" in said


@pytest.mark.parametrize(
    ("path", "edit", "told"),
    [
        (X.inputs, lambda rows: rows.pop(), "x.jsonl holds the rollout (1, 0), which is not in results/x_materialized"),
        (X.inputs, lambda rows: rows[0].update(id="other"), "the rollout (0, 0) has another `id`"),
        (
            X.inputs,
            lambda rows: rows[1].update(responses_create_params={"input": [], "temperature": 1}),
            "the rollout (1, 0) has another `responses_create_params`",
        ),
        (X.inputs, lambda rows: rows[1].update(_ng_task_index=0), "x_materialized_inputs.jsonl, line 2"),
        (X.inputs, lambda rows: rows[1].pop("_ng_rollout_index"), "x_materialized_inputs.jsonl, line 2"),
        (X.inputs, lambda rows: rows[0].pop("responses_create_params"), "a row lacks `responses_create_params`"),
        (X.rollouts, lambda rows: rows[1].pop("response"), "the rollout (1, 0) in results/x.jsonl has no `response`"),
        (X.rollouts, lambda rows: rows[1].update(_ng_task_index=0, id="sum-1"), "the rollout (0, 0) stands twice"),
        (X.rollouts, lambda rows: rows.clear(), "there are no scored rollouts to judge again"),
    ],
)
def test_inputs_and_rollouts_that_are_not_of_one_run_are_refused(
    gym: Gym, sums: SumsRoot, path: Path, edit: Callable[[list[Json]], object], told: str
):
    run(gym, sums, sum_row(1), sum_row(2))
    change(path, edit)
    assert told in gym.refuses(*reverify())


def test_failed_judgings_that_are_not_of_the_inputs_are_refused(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1), sum_row(2, "judge_failed"))
    change(X.inputs, lambda rows: rows[1].update(id="other"))
    told = "the rollout (1, 0) has another `id` in results/x_failures.jsonl than in results/x_materialized_inputs.jsonl"
    assert told in gym.refuses(*reverify("--judge-failed-only"))


@pytest.mark.parametrize("missing", ["--inputs", "--rollouts", "--output"])
def test_a_file_that_is_not_named_is_asked_for(gym: Gym, missing: str):
    words = list(reverify())
    place = words.index(missing)
    del words[place : place + 2]
    assert missing in gym.refuses(*words)


def test_files_that_are_not_there_are_named(gym: Gym, sums: SumsRoot):
    assert f"{X.inputs} cannot be read" in gym.refuses(*reverify())
    run(gym, sums, sum_row(1))
    X.rollouts.unlink()
    assert f"{X.rollouts} cannot be read" in gym.refuses(*reverify())


def test_files_in_each_others_place_are_told_by_their_names(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    words = map(str, ("--inputs", X.rollouts, "--rollouts", X.inputs, "--output", "again.jsonl"))
    assert f"{X.inputs} is no rollouts file of a run" in gym.refuses("eval", "reverify", *SUMS, *words)


@pytest.mark.parametrize("mode", ["unsupported", "stateful"])
def test_a_verifier_that_does_not_support_it_is_not_asked_to_and_nothing_is_overwritten(gym: Gym, sums: SumsRoot, mode: str):
    run(gym, sums, sum_row(1))
    gym(*reverify())
    said = gym.refuses(*reverify("--overwrite", f"{VERIFIER}.reverify_mode={mode}"))
    assert "the resources server `sums_verifier` does not say that it can judge a stored conversation again" in said
    assert "sums_verifier/reverify_mode" in said
    assert sums.calls() == ["run 0 0", "verify 0 0"]


def test_a_judge_that_the_configuration_does_not_have_is_named_before_anything_is_judged(gym: Gym):
    demo = ("--benchmark", "vera_mh_demo")
    gym("eval", "run", *demo, "--limit", "1", "--output", X.rollouts)
    judge = "vera_mh_demo.resources_servers.vera_mh.judge_model_server.name"
    words = ("--inputs", X.inputs, "--rollouts", X.rollouts, "--output", Y.rollouts)
    assert f"where: {judge}" in gym.refuses("eval", "reverify", *demo, *words, f"{judge}=nobody")


def another_agent(sums: SumsRoot, verifier: str) -> None:
    """Gives the benchmark a second agent."""
    config = sums.path / "benchmarks/sums/config.yaml"
    agent = (
        config.read_text()
        .split("sums_verifier:\n")[0]
        .replace("\nsums:", "\nsums_more:")
        .replace("sums_verifier}", f"{verifier}}}")
    )
    config.write_text(config.read_text() + agent)


@pytest.mark.parametrize("reference", [None, {"name": "of_another_benchmark"}])
def test_rows_that_name_none_of_several_agents_are_judged_by_the_one_verifier_of_all(
    gym: Gym, sums: SumsRoot, reference: Json | None
):
    run(gym, sums, sum_row(1))
    another_agent(sums, "sums_verifier")
    for path in (X.inputs, X.rollouts):
        change(path, lambda rows: rows[0].update(agent_ref=reference))
    X.run.unlink()
    assert gym(*reverify()).code == 0
    assert numbers(Y.rollouts) == [1]


def test_rows_that_name_none_of_several_agents_are_not_judged_if_these_have_several_verifiers(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    another_agent(sums, "another_verifier")
    for path in (X.inputs, X.rollouts):
        change(path, lambda rows: rows[0].pop("agent_ref"))
    assert "more than one agent could run these rows" in gym.refuses(*reverify())
