# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The example data of the verifier is what its command makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.vera_mh_demo.example import DATA, example_lines
from gym_host.cli.main import main
from vera_mh.metrics import compute_metrics

Json = dict[str, Any]


def rows(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_the_example_rows_are_those_of_the_demo_pack():
    assert (DATA / "example.jsonl").read_bytes() == b"".join(example_lines())


def test_the_example_rollouts_belong_to_the_rows_and_the_metrics_to_the_rollouts():
    rollouts = rows(DATA / "example_rollouts.jsonl")
    assert [rollout["id"] for rollout in rollouts] == [row["id"] for row in rows(DATA / "example.jsonl")]
    (entry,) = json.loads((DATA / "example_metrics.json").read_bytes())
    assert entry["agent_metrics"] == compute_metrics(rollouts)


def test_a_new_run_of_the_example_rows_comes_to_the_same_verdicts(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    output = tmp_path / "x.jsonl"
    words = ["--benchmark", "vera_mh_demo", "--split", "example", "--model", "careless", "--output", str(output)]
    assert main(["eval", "run", *words]) == 0
    for stored, found in zip(rows(DATA / "example_rollouts.jsonl"), rows(output), strict=True):
        for key in ("transcript", "ratings", "question_path", "reward", "pack_sha256"):
            assert stored[key] == found[key], (stored["id"], key)
