# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The command as a process that is interrupted or killed, with components that have nothing to do with VERA-MH."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.components import SumsRoot, gym_process, lines_in, read_jsonl, sum_row, wait_until

ROWS = 12


@pytest.fixture
def root(tmp_path: Path) -> SumsRoot:
    """Twelve rows, of which four are answered at once, four once `first` is open, and four once `second` is."""
    gates = [{}, {"waits": "first"}, {"waits": "second"}]
    return SumsRoot(tmp_path / "root", [sum_row(number, **gates[number // 4]) for number in range(ROWS)])


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "results" / "x.jsonl"


def start(root: SumsRoot, output: Path, *words: str) -> subprocess.Popen[str]:
    words = ("eval", "run", "--search-dir", str(root.path), "--benchmark", "sums", "--concurrency", "3", *words)
    return gym_process(*words, "--output", output, cwd=root.path.parent)


def stop(process: subprocess.Popen[str], number: signal.Signals, when: Callable[[], bool]) -> tuple[str, str]:
    """Sends a signal once it is time; what the process said."""
    wait_until(lambda: when() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    return process.communicate(timeout=10)


def stands(root: SumsRoot, output: Path, *, rows: int, calls: int) -> Callable[[], bool]:
    """Whether so many rows are written and so many calls made."""
    return lambda: lines_in(output) == rows and len(root.calls()) == calls


def check_finished(root: SumsRoot, output: Path, process: subprocess.Popen[str]) -> None:
    """Every rollout is scored once, in order, and none that was scored was run again."""
    said = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert f"{ROWS} of {ROWS} rollouts scored, 0 failed." in said[0]
    assert [row["number"] for row in read_jsonl(output)] == list(range(ROWS))
    assert {file.name for file in output.parent.iterdir()} == {
        f"x{ending}"
        for ending in (".jsonl", "_failures.jsonl", "_materialized_inputs.jsonl", "_aggregate_metrics.json", "_run.json")
    }


def test_ctrl_c_ends_the_run_in_order_and_says_how_to_go_on(root: SumsRoot, output: Path):
    process = start(root, output)
    out, err = stop(process, signal.SIGINT, stands(root, output, rows=4, calls=7))
    assert process.returncode == 130
    assert "INCOMPLETE: 8 of 12 rollouts have no score." in out
    assert "run the same command with --resume" in out
    assert "Traceback" not in err
    assert len(read_jsonl(output)) == 4
    for gate in ("first", "second"):
        root.open(gate)
    check_finished(root, output, start(root, output, "--resume"))
    runs = Counter(root.calls())
    assert [runs[f"run {task} 0"] for task in range(ROWS)] == [1] * 4 + [2] * 3 + [1] * 5


def test_a_run_that_is_killed_twice_loses_nothing_and_runs_no_scored_rollout_again(root: SumsRoot, output: Path):
    process = start(root, output)
    stop(process, signal.SIGKILL, stands(root, output, rows=4, calls=7))
    assert process.returncode == -signal.SIGKILL
    first = read_jsonl(output)
    root.open("first")
    stop(start(root, output, "--resume"), signal.SIGKILL, stands(root, output, rows=8, calls=14))
    second = read_jsonl(output)
    assert second[:4] == first
    root.open("second")
    check_finished(root, output, start(root, output, "--resume"))
    runs = Counter(root.calls())
    assert [runs[f"run {task} 0"] for task in range(ROWS)] == [1] * 4 + [2] * 3 + [1] + [2] * 3 + [1]
