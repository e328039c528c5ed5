# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One run that is killed a hundred times, at instants that a seed chooses, and gone on with each time."""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.behind import Behind, Results, results, small_benchmark
from tests.support.endpoint import Fault, endpoint_process
from tests.support.lives import Lives

KILLS = 100
ROWS = 150
SEED = 5
LATENCY = 0.002
FAULTS = [Fault(kind="status", status=400, attempts=1, probability=0.01)]
"""Some conversations fail once, so that the failures file grows too."""
TIMES = {"simulation", "response"}
"""What holds times, and so differs from run to run."""


@dataclass(frozen=True)
class Whole:
    """The benchmark, and a run of it that nobody killed."""

    behind: Behind
    undisturbed: Results


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    folder: Path = tmp_path_factory.mktemp("killed")
    made = small_benchmark(folder, rows=ROWS, max_turns=4)
    with endpoint_process(seed=SEED) as url:
        made.behind(url).run(folder / "undisturbed.jsonl")
    with endpoint_process(seed=SEED, latency=LATENCY, faults=FAULTS) as url:
        yield Whole(made.behind(url), results(folder / "undisturbed.jsonl"))


@pytest.fixture
def lives(whole: Whole) -> Iterator[Lives]:
    with Lives({**whole.behind.environ, "NEMO_GYM_MAX_ROLLOUT_ATTEMPTS": "1000"}) as lives:
        yield lives


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file that are whole: there may be half a line behind them."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def survivors(files: Results) -> dict[tuple[int, int], bytes]:
    """What stands in the rollouts, every line of which must be a row, and no row twice."""
    lines = whole_lines(files.files.rollouts)
    found = {(row["_ng_task_index"], row["_ng_rollout_index"]): line for line in lines for row in [json.loads(line)]}
    assert len(found) == len(lines)
    return found


def replaced_files_are_whole(files: Results) -> None:
    """The record and the metrics are the old ones or the new ones, and the rows as dispatched are all there or not at all."""
    for path in (files.files.run, files.files.metrics):
        if path.exists():
            json.loads(path.read_bytes())
    if files.files.inputs.exists():
        assert len(whole_lines(files.files.inputs)) == ROWS


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in TIMES}


def seconds_of_a_short_run(whole: Whole, lives: Lives, output: Path) -> tuple[float, float]:
    """How long a life takes here: until it has the files, and from then until three rows are done."""
    began = time.monotonic()
    lives.live(whole.behind.command(output), kill_after=0, begun=output.with_name(f".{output.name}.lock"))
    begun = time.monotonic()
    assert lives.live(whole.behind.command(output, "--limit", "3", "--overwrite")).code in (0, 1)
    return begun - began, time.monotonic() - begun - (begun - began)


def test_a_run_that_is_killed_a_hundred_times_loses_and_doubles_nothing(whole: Whole, lives: Lives, tmp_path: Path):
    start, work = seconds_of_a_short_run(whole, lives, tmp_path / "short.jsonl")
    chance = random.Random(SEED)
    output = tmp_path / "results" / "x.jsonl"
    files, lock = results(output), output.with_name(".x.jsonl.lock")
    scored: dict[tuple[int, int], bytes] = {}
    failed: list[bytes] = []
    lived, killed, grown = 0, 0, 0
    pace = 1.0  # Other programs may slow this machine down after it was timed, or cease to.
    while killed < KILLS:
        words = whole.behind.command(output, "--concurrency", "2", "--resume")
        if lived % 4:
            lock.unlink(missing_ok=True)
            end = lives.live(words, kill_after=chance.uniform(0, 1.5 * work * pace), begun=lock)
        else:  # What the last life left is all there, its lock too.
            end = lives.live(words, kill_after=chance.uniform(0, (start + work) * pace))
        assert end.code in (0, 1, -signal.SIGKILL), end.said
        lived, killed = lived + 1, killed + (end.code == -signal.SIGKILL)
        now = survivors(files)
        assert {key: now.get(key) for key in scored} == scored
        if end.code != -signal.SIGKILL:
            pace *= 0.8
        elif len(now) == len(scored):
            pace = min(1.1 * pace, 10)
        else:
            pace, grown = max(0.9 * pace, 0.5), grown + 1
        scored = now
        failures = whole_lines(files.files.failures)
        assert failures[: len(failed)] == failed
        failed = failures
        replaced_files_are_whole(files)
        assert lived <= 2 * KILLS, "it ends before it can be killed"
    assert grown >= KILLS / 10
    last = whole.behind.command(output, "--concurrency", "50", "--resume")
    assert lives.live(last).code in (0, 1)
    end = lives.live(last)
    assert end.code == 0, end.said
    done = results(output)
    assert [without_times(row) for row in done.rows] == [without_times(row) for row in whole.undisturbed.rows]
    assert done.metrics == whole.undisturbed.metrics
    assert done.record["status"] == "complete"
    halves = set(output.parent.glob("*.torn-*"))  # A kill may have come in the middle of a line.
    assert not [path for path in halves if b"\n" in path.read_bytes()]
    assert set(output.parent.iterdir()) - halves == set(done.files.all)
