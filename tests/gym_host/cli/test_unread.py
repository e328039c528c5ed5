# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is printed to a reader that has had enough, as in `gym ... | head -1`: the files are written all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.components import write_jsonl
from tests.support.ratings import scored_row


def to_nobody(*words: str | Path) -> int:
    """The exit code of the command when nobody reads a word of what it prints."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        command = [sys.executable, "-m", "gym_host.cli.main", *map(str, words)]
        return subprocess.run(command, stdout=nobody, stderr=subprocess.DEVNULL, check=False).returncode


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
