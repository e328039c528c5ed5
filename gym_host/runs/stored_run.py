# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run as its files tell it, for whoever shows it or hands it on. Rows are read one by one: they may not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gym_host.jsonl import Json, read_lines
from gym_host.runs.failures import FailedBefore, read_failures
from gym_host.runs.keys import Key
from gym_host.runs.metrics_file import read_metrics
from gym_host.runs.run_files import RunFiles
from gym_host.runs.run_record import RunRecord, read_record_if_any
from gym_host.runs.stored import StoredRows
from gym_host.wording import without_score


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as its files tell it.

    Attributes:
        files: Its files.
        record: `x_run.json`: identity (agent, servers with their settings), start, end, versions, counts; empty if there is none.
        failures: Key -> the failed attempts of a rollout that has no score.
    """

    files: RunFiles
    record: Json
    failures: dict[Key, FailedBefore]
    _rows: StoredRows = field(repr=False)

    @property
    def path(self) -> Path:
        """The rollouts file."""
        return self.files.rollouts

    @property
    def metrics(self) -> list[Json]:
        """The entries of `x_aggregate_metrics.json`, one for each agent; empty if there is none.

        Raises:
            OutputError: It cannot be read, or is something else.
        """
        return read_metrics(self.files.metrics)

    def __len__(self) -> int:
        return len(self._rows)

    def planned(self) -> int | None:
        """Rollouts of the run; None if its files do not tell."""
        known = len(self) + len(self.failures)
        if self.files.inputs.exists():
            return max(known, sum(1 for _ in read_lines(self.files.inputs)))
        planned = RunRecord(self.record).planned
        return None if planned is None else max(known, planned)

    def incomplete(self) -> str | None:
        """What is said first of a run in which rollouts have no score; None if all have one, as far as its files tell."""
        planned = self.planned()
        if planned is None or planned == len(self):
            return None
        return without_score(planned - len(self), planned)

    def keys(self) -> list[Key]:
        """Keys of the scored rollouts, in order."""
        return self._rows.keys()

    def row(self, key: Key) -> Json:
        """A scored row."""
        return self._rows.row(key)

    def rows(self) -> Iterator[Json]:
        """All scored rows, by key."""
        return self._rows.rows()


def open_run(rollouts: Path) -> StoredRun:
    """Opens the files of a run.

    Raises:
        UserError: A file cannot be read, or holds something else.
    """
    files = RunFiles.read_from(rollouts)
    rows = StoredRows()
    rows.load(rollouts)
    failures = {key: failed for key, failed in read_failures(files.failures).items() if key not in rows}
    return StoredRun(files, read_record_if_any(rollouts), failures, rows)
