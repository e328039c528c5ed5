# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval reverify` as a process that is interrupted or killed."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from gym_host.cli.main import main
from tests.support.components import SumsRoot, gym_process, lines_in, read_jsonl, sum_row, wait_until, write_jsonl

ROWS = 9
SUMS = ("--search-dir", "root", "--benchmark", "sums")


class Judging:
    """A finished run of nine rows: three are judged again at once, three once `first` is open, three once `second` is."""

    def __init__(self, folder: Path) -> None:
        gates = [{}, {"waits": "first"}, {"waits": "second"}]
        self.folder = folder
        self.root = SumsRoot(folder / "root", [sum_row(number, **gates[number // 3]) for number in range(ROWS)])
        self.x, self.y = folder / "results/x.jsonl", folder / "results/y.jsonl"
        for gate in ("first", "second"):
            self.root.open(gate)
        with chdir(folder):
            assert main(["eval", "run", *SUMS, "--output", str(self.x)]) == 0
        self.rows = read_jsonl(self.x)
        self.root.log.unlink()
        for gate in ("first", "second"):
            (self.root.path / gate).unlink()

    def start(self, *words: str) -> subprocess.Popen[str]:
        files = ("--inputs", self.x.with_name("x_materialized_inputs.jsonl"), "--rollouts", self.x, "--output", self.y)
        return gym_process("eval", "reverify", *SUMS, *files, "--concurrency", "2", *words, cwd=self.folder)

    def stands(self, *, rows: int, calls: int) -> Callable[[], bool]:
        """Whether so many rows are written and so many judgings begun."""
        return lambda: lines_in(self.y) == rows and len(self.root.calls()) == calls

    def finished(self, process: subprocess.Popen[str]) -> None:
        """Every rollout is judged once, in order."""
        said = process.communicate(timeout=20)
        assert process.returncode == 0, said
        assert f"{ROWS} of {ROWS} rollouts scored, 0 failed." in said[0]
        assert read_jsonl(self.y) == self.rows


@pytest.fixture
def judging(tmp_path: Path) -> Judging:
    return Judging(tmp_path)


def stop(process: subprocess.Popen[str], number: signal.Signals, when: Callable[[], bool]) -> tuple[str, str]:
    """Sends a signal once it is time; what the process said."""
    wait_until(lambda: when() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    return process.communicate(timeout=10)


def test_ctrl_c_and_kill_lose_no_judging_and_none_is_asked_for_twice(judging: Judging):
    process = judging.start()
    out, err = stop(process, signal.SIGINT, judging.stands(rows=3, calls=5))
    assert process.returncode == 130
    assert out.startswith("INCOMPLETE: 6 of 9 rollouts have no score.")
    assert "run the same command with --resume" in out
    assert "Traceback" not in err
    judging.root.open("first")
    stop(judging.start("--resume"), signal.SIGKILL, judging.stands(rows=6, calls=10))
    assert len(read_jsonl(judging.y)) == 6
    judging.root.open("second")
    judging.finished(judging.start("--resume"))
    verified = Counter(judging.root.calls())
    assert [verified[f"verify {task} 0"] for task in range(ROWS)] == [1] * 3 + [2] * 2 + [1] + [2] * 2 + [1]


def test_what_was_carried_over_before_a_kill_is_not_carried_over_twice(judging: Judging):
    rows = judging.rows
    failed = {"_ng_failure_class": "judge_failed", "reward": 0.0, "mask_sample": True}
    write_jsonl(judging.x, rows[:3] + rows[6:])
    write_jsonl(judging.x.with_name("x_failures.jsonl"), [row | failed for row in rows[3:6]])
    stop(judging.start("--judge-failed-only"), signal.SIGKILL, judging.stands(rows=6, calls=2))
    carried = judging.y.read_bytes().splitlines(keepends=True)
    judging.y.write_bytes(b"".join(carried[:4]) + carried[4][:20])  # As if it had been killed while carrying over.
    judging.root.open("first")
    judging.finished(judging.start("--judge-failed-only", "--resume"))
    assert sorted(set(judging.root.calls())) == ["verify 3 0", "verify 4 0", "verify 5 0"]
