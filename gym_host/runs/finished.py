# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are finished, read back for their figures: what was scored, and what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gym_host.jsonl import Json, say_torn
from gym_host.runs.failures import read_failures
from gym_host.runs.fields import project
from gym_host.runs.keys import FAILURE_CLASS, ROLLOUT_INDEX, TASK_INDEX, Key, keyed_lines
from gym_host.runs.run_files import RunFiles
from gym_host.runs.run_record import RunRecord, read_record_if_any

Name = tuple[str, int]
"""What a rollout is known by wherever it was run: the `id` of its row (its task index where rows have none), rollout index."""


def name_of(row: Mapping[str, Any]) -> Name:
    """The name of a rollout."""
    id_ = row.get("id")
    return f"task {row[TASK_INDEX]}" if id_ is None else str(id_), int(row[ROLLOUT_INDEX])


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run's files, read back.

    Attributes:
        path: The rollouts file.
        rows: The kept fields of its rows, in the order of the file.
        record: Its `x_run.json`, or nothing if there is none.
        unscored: Rollouts that its materialized inputs name and that it did not score -> how they failed last, or None.
        uncounted: Rollouts without a score of which only the record knows, for lack of inputs.
    """

    path: Path
    rows: Sequence[Json]
    record: Json
    unscored: Mapping[Name, str | None] = field(default_factory=dict)
    uncounted: int = 0

    @property
    def missing(self) -> int:
        """Rollouts without a score, as far as is known."""
        return len(self.unscored) + self.uncounted

    @property
    def planned(self) -> int:
        """Rollouts of the run, as far as is known."""
        return len(self.rows) + self.missing

    @property
    def failures(self) -> Counter[str]:
        """Failure class -> rollouts without a score that failed so last, where only the record tells."""
        return Counter(RunRecord(self.record).failed) if self.uncounted else Counter()


def read_run(path: Path, fields: Iterable[str] | None) -> FinishedRun:
    """Reads a run.

    Args:
        path: Its rollouts file; its other files are looked for beside it.
        fields: Fields to keep, dots for nesting; None for all.

    Raises:
        UserError: A file cannot be read, or a rollout stands there twice.
    """
    kept = None if fields is None else list(fields)
    rows: dict[Key, Json] = {}
    scored: set[Name] = set()
    for line in keyed_lines(path, torn=say_torn):
        line.refuse_second(rows)
        rows[line.key] = project(line.row, kept)
        scored.add(name_of(line.row))
    record, files = read_record_if_any(path), RunFiles(path)
    if files.inputs.exists():
        return FinishedRun(path, list(rows.values()), record, _unscored(files, scored))
    uncounted = max(0, (RunRecord(record).planned or 0) - len(rows))
    return FinishedRun(path, list(rows.values()), record, uncounted=uncounted)


def _unscored(files: RunFiles, scored: set[Name]) -> dict[Name, str | None]:
    """What the materialized inputs name and the rollouts lack. A run that was killed has no counts, but always its inputs."""
    failed = {name_of(before.last): str(before.last.get(FAILURE_CLASS)) for before in read_failures(files.failures).values()}
    planned = [name_of(line.row) for line in keyed_lines(files.inputs)]
    return {name: failed.get(name) for name in planned if name not in scored}
