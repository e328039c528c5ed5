# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What comes of it when nobody can take what is printed: a reader that has had enough, a full disk, a closed or narrow stream."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.components import write_jsonl
from tests.support.ratings import scored_row

PROJECT = Path(__file__).parents[3]
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")


def to_nobody(*words: str | Path) -> int:
    """The exit code of the command when nobody reads a word of what it prints."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        command = [sys.executable, "-m", "gym_host.cli.main", *map(str, words)]
        return subprocess.run(command, stdout=nobody, stderr=subprocess.DEVNULL, check=False).returncode


def gym(*words: str | Path, **process: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "gym_host.cli.main", *map(str, words)]
    return subprocess.run(command, check=False, **process)


def on_a_full_disk(*words: str | Path) -> tuple[int, str]:
    """The exit code of the command and what it says where its output goes to a full disk."""
    with Path("/dev/full").open("wb") as full:
        done = gym(*words, stdout=full, stderr=subprocess.PIPE)
    return done.returncode, done.stderr.decode()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The rollouts of a run, with a word in them that not every encoding has."""
    row = scored_row("BSN", persona="\u017bofia", pack_sha256="0123", rubric_version="demo-1", judge_model="demo-judge")
    path = tmp_path / "run.jsonl"
    write_jsonl(path, [row | {"_ng_task_index": 0, "_ng_rollout_index": 0}])
    return path


def test_a_run_that_nobody_reads_leaves_its_files_and_ends_as_it_went(tmp_path: Path):
    output = tmp_path / "x.jsonl"
    assert to_nobody("eval", "run", "--benchmark", "vera_mh_demo", "--output", output) == 0
    assert len(output.read_bytes().splitlines()) == 8
    assert (tmp_path / "x_report.html").exists()
    assert (tmp_path / "x_aggregate_metrics.json").exists()


def test_a_comparison_that_nobody_reads_is_written_and_its_page_too(tmp_path: Path):
    for name, rating in (("base", "BSN"), ("other", "BSH")):
        row = scored_row(rating, pack_sha256="0123", rubric_version="demo-1", judge_model="demo-judge")
        write_jsonl(tmp_path / f"{name}.jsonl", [row | {"_ng_task_index": 0, "_ng_rollout_index": 0}])
    pages = ("--report", tmp_path / "page.html", "--output", tmp_path / "comparison.json")
    runs = (tmp_path / "base.jsonl", tmp_path / "other.jsonl")
    assert to_nobody("eval", "compare", "--benchmark", "vera_mh_demo", *runs, *pages) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"base.jsonl", "other.jsonl", "page.html", "comparison.json"}


@FULL
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("list", "benchmarks", "--json"),
        ("env", "resolve", "--benchmark", "vera_mh_demo", "--json"),
        ("tool", "vera_mh", "pack", "hash", PROJECT / "benchmarks/vera_mh_demo/pack"),
        ("eval", "show", "--benchmark", "vera_mh_demo", "RUN"),
        ("eval", "show", "--benchmark", "vera_mh_demo", "RUN", "--list"),
    ],
)
def test_a_result_that_a_full_disk_does_not_take_is_an_error(run: Path, words: tuple[str | Path, ...]):
    code, said = on_a_full_disk(*(run if word == "RUN" else word for word in words))
    assert code == 2
    assert said.startswith("error: what is printed cannot be written: No space left on device\n")
    assert said.count("\n") == 3


@FULL
def test_a_run_whose_end_a_full_disk_does_not_take_ends_as_it_went(tmp_path: Path):
    code, said = on_a_full_disk("eval", "run", "--benchmark", "vera_mh_demo", "--output", tmp_path / "x.jsonl")
    assert (code, "error" in said) == (0, False)
    assert (tmp_path / "x_report.html").exists()


def test_a_command_whose_streams_are_closed_does_its_work(tmp_path: Path):
    words = ("eval", "run", "--benchmark", "vera_mh_demo", "--output", str(tmp_path / "x.jsonl"))
    program = shlex.join([sys.executable, "-m", "gym_host.cli.main", *words])
    assert subprocess.run(["sh", "-c", f"{program} >&- 2>&-"], check=False).returncode == 0
    assert len((tmp_path / "x.jsonl").read_bytes().splitlines()) == 8
    assert (tmp_path / "x_report.html").exists()


def test_what_the_encoding_of_the_terminal_does_not_have_is_shown_as_something_else(run: Path):
    environ = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = gym("eval", "show", "--benchmark", "vera_mh_demo", run, "--list", capture_output=True, env=environ)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?ofia" in done.stdout
