# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The run `x` of the benchmark `sums`, and the run `y` that judges it again, in the working directory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from gym_host.runs.run_files import RunFiles
from tests.support.command import Gym, Said
from tests.support.components import Json, SumsRoot, read_jsonl, write_jsonl

SUMS = ("--search-dir", "root", "--benchmark", "sums")
VERIFIER = "++sums_verifier.resources_servers.sums_verifier"
X = RunFiles(Path("results/x.jsonl"))
Y = RunFiles(Path("results/y.jsonl"))


def run(gym: Gym, sums: SumsRoot, *rows: Json, words: tuple[str, ...] = ()) -> Said:
    """Runs rows into `results/x.jsonl`, and forgets the calls that it took."""
    sums.write(rows)
    said = gym("eval", "run", *SUMS, "--output", X.rollouts, *words)
    assert said.code in (0, 1), said
    return said


def reverify(*words: str | Path, output: Path = Y.rollouts) -> tuple[str | Path, ...]:
    return ("eval", "reverify", *SUMS, "--inputs", X.inputs, "--rollouts", X.rollouts, "--output", output, *words)


def record(files: RunFiles) -> Json:
    read: Json = json.loads(files.run.read_bytes())
    return read


def metrics(files: RunFiles) -> Json:
    (entry,) = json.loads(files.metrics.read_bytes())
    return dict(entry)


def change(path: Path, edit: Callable[[list[Json]], object]) -> None:
    """Edits the rows of a file."""
    rows = read_jsonl(path)
    edit(rows)
    write_jsonl(path, rows)


def numbers(path: Path) -> list[int]:
    return [row["number"] for row in read_jsonl(path)]
