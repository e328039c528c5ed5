# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark itself under NVIDIA's host: rows, run, reverification and failures are those of our host."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.both_hosts import Models, models, under_ours
from tests.support.endpoint import Fault
from tests.support.likeness import assert_same_metrics, assert_same_run, differences, file_of, rows_of
from tests.support.nemo_gym import PROJECT, NemoGym
from vera_mh.tasks import ROWS_SHA256

pytestmark = pytest.mark.interop

RUN = ("eval", "run", "--benchmark", "vera_mh", "--split", "benchmark", "--limit", "3")
REVERIFY = ("eval", "reverify", "--benchmark", "vera_mh")
ROWS = PROJECT / "benchmarks/vera_mh/data/vera_mh_recommended.jsonl"

SIMULATED = {"simulation", "transcript_matches_agent", "_ng_environment_server", "_ng_result_type"}
"""What a run's rows have from the agent and the host: a verifier that is given a row and its `response` knows nothing of it."""

METRICS_OF_SIMULATION = {
    f"agent_metrics.{name}_rate"
    for name in (
        "reached_max_turns",
        "conversations_with_empty_persona_turn",
        "conversations_with_empty_provider_turn",
        "conversations_with_truncated_provider_turn",
    )
}
"""Metrics that are unknown (null) without it. Our host keeps what was stored of it, NVIDIA's does not."""


@dataclass(frozen=True)
class Runs:
    """The same run under both hosts, and the models that it was made with."""

    ours: Path
    theirs: Path
    models: Models


def provider(played: Models) -> tuple[str, ...]:
    """The chatbot behind our own model server. NVIDIA has one of the same name; the folder of the checkout comes first."""
    return ("--model-type", "inference_provider", *played.policy)


@pytest.fixture(scope="module")
def runs(nemo_gym: NemoGym, pack_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """A run of three rows that nothing disturbs."""
    folder = tmp_path_factory.mktemp("runs")
    with models(pack_folder) as played:
        made = Runs(folder / "ours.jsonl", folder / "theirs.jsonl", played)
        under_ours(*RUN, *provider(played), output=made.ours, environ=played.environ)
        nemo_gym.evaluate(*RUN, *provider(played), output=made.theirs, environ=played.environ)
        yield made


def test_nvidias_command_prepares_the_pinned_rows(nemo_gym, pack_folder):
    words = ("eval", "prepare", "--benchmark", "vera_mh", nemo_gym.quiet)
    finished = nemo_gym(*words, environ={"VERA_MH_PACK": str(pack_folder)})
    assert finished.status == 0, finished.printed
    assert hashlib.sha256(ROWS.read_bytes()).hexdigest() == ROWS_SHA256


def test_a_run_comes_to_the_same_rollouts_and_metrics(runs):
    assert_same_run(runs.ours, runs.theirs)
    assert [row["turn_count"] for row in rows_of(runs.theirs)] == [30, 30, 30]


def test_a_reverification_comes_to_the_same_verdicts(nemo_gym, runs, tmp_path):
    stored = ("--inputs", file_of(runs.theirs, "_materialized_inputs.jsonl"), "--rollouts", runs.theirs)
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    under_ours(*REVERIFY, *stored, output=ours, environ=runs.models.environ)
    # The configuration names a policy. NVIDIA's host wants its endpoint to be up, although nobody asks it, and its `reverify` has
    # no flags for it.
    policy = ("--model-type", "inference_provider", *runs.models.policy_overrides)
    # It also ends without ending the servers that it has started, NVIDIA's own among them.
    nemo_gym.evaluate(*REVERIFY, *policy, *stored, output=theirs, environ=runs.models.environ, tidy=False)
    for other in (ours, theirs):
        assert len(rows_of(other)) == 3
        for run, again in zip(rows_of(runs.theirs), rows_of(other), strict=True):
            assert differences(run, again, except_for=SIMULATED) == {}
    assert file_of(theirs, "_failures.jsonl").read_bytes() == b""
    assert_same_metrics(ours, theirs, except_for=METRICS_OF_SIMULATION)


def test_a_judge_that_fails_for_one_row_costs_that_row_and_no_other(nemo_gym, runs, pack_folder, tmp_path):
    talks = [row["conversation"] for row in rows_of(runs.ours)]
    opening = talks[-1][0]["response"]
    assert sum(opening in str(talk) for talk in talks) == 1
    nonsense = Fault(kind="content", role="judge", anywhere=opening, body="I would rather not say.")
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    with models(pack_folder, nonsense) as played:
        under_ours(*RUN, *provider(played), output=ours, environ=played.environ, status=1)
        nemo_gym.evaluate(*RUN, *provider(played), output=theirs, environ=played.environ)
    assert_same_run(ours, theirs)
    (failed,) = rows_of(theirs, "_failures.jsonl")
    assert (failed["_ng_task_index"], failed["_ng_failure_class"], failed["reward"]) == (2, "judge_failed", 0.0)
    assert failed["mask_sample"] is True
    assert failed["conversation"] == talks[-1]
    assert "ratings" not in failed
    assert [verdict_of(row) for row in rows_of(theirs)] == [verdict_of(row) for row in rows_of(runs.ours)[:2]]


def verdict_of(row: dict[str, Any]) -> list[Any]:
    return [row[key] for key in ("id", "ratings", "rating_reasoning", "question_path", "reward")]
