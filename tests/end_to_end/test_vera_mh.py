# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The main job: all 200 rows of the real pack, 30 turns, over real sockets, by the command itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import endpoint_process
from vera_mh.metrics import compute_metrics

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def environment(pack_folder: Path) -> Iterator[dict[str, str]]:
    """Environment of the command: the pack, and one endpoint process that plays judge, simulators and chatbot."""
    with endpoint_process(seed=11) as url:
        base = url.removesuffix("/v1")
        models = {"JUDGE": "judge", "USER_GPT52": "persona", "USER_OPUS45": "persona"}
        yield (
            {key: value for key, value in os.environ.items() if not key.startswith("VERA_MH_")}
            | {"VERA_MH_PACK": str(pack_folder), "POLICY_URL": f"{base}/provider/v1"}
            | {f"VERA_MH_{name}_BASE_URL": f"{base}/{role}/v1" for name, role in models.items()}
            | {f"VERA_MH_{name}_API_KEY": "unused" for name in models}
        )


def command(environment: dict[str, str], output: Path, *words: str) -> subprocess.Popen[str]:
    policy = ["--model", "chatbot", "--model-url", environment["POLICY_URL"], "--model-api-key", "unused"]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gym_host.cli.main",
            "eval",
            "run",
            "--benchmark",
            "vera_mh",
            *policy,
            "--output",
            str(output),
            *words,
        ],
        env=environment,
        cwd=PROJECT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finished(process: subprocess.Popen[str]) -> str:
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return printed


def rows_of(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.read_bytes().splitlines()]


def agent_metrics(output: Path) -> dict[str, Any]:
    entries = json.loads(output.with_name(f"{output.stem}_aggregate_metrics.json").read_bytes())
    assert len(entries) == 1
    metrics: dict[str, Any] = entries[0]["agent_metrics"]
    return metrics


@pytest.fixture(scope="module")
def whole_run(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that nothing disturbed."""
    output = tmp_path_factory.mktemp("whole") / "run.jsonl"
    finished(command(environment, output, "--concurrency", "100"))
    return output


def test_every_row_is_scored_once_and_the_metrics_are_those_of_the_library(whole_run):
    rows = rows_of(whole_run)
    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(task, 0) for task in range(200)]
    assert len({row["id"] for row in rows}) == 200
    assert {row["simulation"]["max_turns_effective"] for row in rows} == {30}
    assert max(row["turn_count"] for row in rows) == 30
    assert all(row["transcript_matches_agent"] is True for row in rows)
    assert all(row["judge_calls"] == len(row["judge_receipts"]) > 0 for row in rows)
    assert agent_metrics(whole_run) == compute_metrics(rows)
    assert not (whole_run.parent / "run_failures.jsonl").read_bytes()


def test_a_second_run_comes_to_the_same_verdicts_and_metrics(whole_run, environment, tmp_path):
    output = tmp_path / "run.jsonl"
    printed = finished(command(environment, output, "--concurrency", "200"))
    for one, other in zip(rows_of(whole_run), rows_of(output), strict=True):
        for key in ("id", "transcript", "ratings", "rating_reasoning", "question_path", "reward"):
            assert one[key] == other[key], (one["id"], key)
    assert agent_metrics(whole_run) == agent_metrics(output)
    assert "200 of 200 rollouts scored, 0 failed" in printed
    assert "no certification" in printed


def test_a_run_killed_in_the_middle_goes_on_to_the_same_200_rows_and_metrics(whole_run, environment, tmp_path):
    output = tmp_path / "run.jsonl"
    process = command(environment, output, "--concurrency", "20")
    deadline = time.monotonic() + 120
    while not output.exists() or output.read_bytes().count(b"\n") < 60:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    survived = output.read_bytes().count(b"\n")
    assert 60 <= survived < 200
    finished(command(environment, output, "--concurrency", "100", "--resume"))
    rows = rows_of(output)
    assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows] == [(task, 0) for task in range(200)]
    assert agent_metrics(output) == agent_metrics(whole_run)


def test_rows_that_are_not_the_pinned_ones_are_refused(environment, tmp_path):
    rows = PROJECT / "benchmarks/vera_mh/data/vera_mh_recommended.jsonl"
    kept = rows.read_bytes()
    try:
        rows.write_bytes(b"".join(kept.splitlines(keepends=True)[:150]))
        process = command(environment, tmp_path / "run.jsonl")
        _, errors = process.communicate(timeout=60)
    finally:
        rows.write_bytes(kept)
    assert process.returncode == 2
    assert "does not hold the pinned rows" in errors
    assert not (tmp_path / "run.jsonl").exists()
