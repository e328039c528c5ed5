# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a run, what stands in them, and who may write them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gym_host.atomic import clear_unfinished, reason
from gym_host.errors import OutputError, UserError
from gym_host.journal import mend_tail
from gym_host.jsonl import Json, read_lines, say_torn, sort_lines

TASK_INDEX = "_ng_task_index"
ROLLOUT_INDEX = "_ng_rollout_index"
ATTEMPT_INDEX = "_ng_attempt_index"
FAILURE_CLASS = "_ng_failure_class"
FAILURE_TERMINAL = "_ng_failure_terminal"

_ENDINGS = ("_failures", "_materialized_inputs")
_LONGEST_NAME = 200

Key = tuple[int, int]
"""(task index, rollout index) of a rollout."""


def key_of(row: Mapping[str, Any], *, where: str | None = None) -> Key:
    """The key of a row.

    Args:
        row: The row.
        where: File and line that it stands in, for the error.

    Raises:
        OutputError: The row has none.
    """
    task, rollout = row.get(TASK_INDEX), row.get(ROLLOUT_INDEX)
    if not isinstance(task, int) or not isinstance(rollout, int):
        raise OutputError(f"a row has no `{TASK_INDEX}` and `{ROLLOUT_INDEX}`, so it is no rollout of a run", where=where)
    return task, rollout


def is_score(reward: object) -> bool:
    """Whether a row's `reward` is one: a number, which `true` is not."""
    return isinstance(reward, int | float) and not isinstance(reward, bool)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of the run that writes to `rollouts`."""

    rollouts: Path

    @classmethod
    def of(cls, output: Path) -> RunFiles:
        """The files for an `--output`.

        Raises:
            OutputError: The name does not end in `.jsonl`, or is a folder.
        """
        if output.stem.endswith(_ENDINGS):
            raise OutputError(f"{output.name} is a name for another file of a run", where="--output", mend="choose another name")
        if len(os.fsencode(output.name)) > _LONGEST_NAME:
            raise OutputError(
                f"a name of {len(output.name)} characters is too long", where="--output", mend="choose a shorter one"
            )
        if output.suffix != ".jsonl" or output.is_dir():
            raise OutputError(f"{output} is no name for a rollouts file", where="--output", mend="end it in .jsonl")
        return cls(output)

    @classmethod
    def read_from(cls, rollouts: Path) -> RunFiles:
        """The files of a run that is only looked at.

        Raises:
            UserError: This is no name that a run's rollouts can have.
        """
        try:
            return cls.of(rollouts)
        except OutputError:
            raise UserError(f"{rollouts} is no rollouts file of a run", mend="name the .jsonl that the run wrote") from None

    def _beside(self, ending: str) -> Path:
        return self.rollouts.with_name(f"{self.rollouts.stem}_{ending}")

    @property
    def failures(self) -> Path:
        return self._beside("failures.jsonl")

    @property
    def inputs(self) -> Path:
        return self._beside("materialized_inputs.jsonl")

    @property
    def metrics(self) -> Path:
        return self._beside("aggregate_metrics.json")

    @property
    def run(self) -> Path:
        return self._beside("run.json")

    @property
    def report(self) -> Path:
        """A page that shows the run. It is made from the other files, so whoever makes it anew may replace it."""
        return self._beside("report.html")

    @property
    def lock(self) -> Path:
        return self.rollouts.with_name(f".{self.rollouts.name}.lock")

    @property
    def all(self) -> tuple[Path, ...]:
        return self.rollouts, self.failures, self.inputs, self.metrics, self.run

    def existing(self) -> list[Path]:
        return [path for path in self.all if path.exists()]

    def current_report(self) -> Path | None:
        """The page, if there is one that is not older than what it shows."""
        made = _changed(self.report)
        return (
            self.report if made is not None and made >= max(_changed(self.rollouts) or 0, _changed(self.failures) or 0) else None
        )

    def drop_report(self) -> None:
        """Removes the page: call it before what it shows is changed, so that no old page passes for one of the new rows."""
        if not self.report.is_dir():
            self.report.unlink(missing_ok=True)

    def remove(self) -> None:
        """Removes all files, the record last, since it says what the others are; and the page."""
        self.drop_report()
        for path in self.existing():
            path.unlink()

    def refuse_sources(self, sources: Iterable[Path]) -> None:
        """Refuses to write where something lies that is read: it would be lost before it was of use.

        Raises:
            OutputError: One of these files is one of those that are read.
        """
        read = {path.resolve() for path in sources}
        taken = next((path for path in (*self.all, self.report) if path.resolve() in read), None)
        if taken is not None:
            raise OutputError(f"{taken} is one of the files that are read", where="--output", mend="name another file")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps every other run off these files. The lock belongs to the process and dies with it.

        Raises:
            OutputError: Another run holds it, or the folder cannot be written.
        """
        handle = self._lock()
        try:
            for path in (*self.all, self.report):
                clear_unfinished(path)
            yield
        finally:
            self.lock.unlink(missing_ok=True)
            os.close(handle)

    def _lock(self) -> int:
        try:
            self.rollouts.parent.mkdir(parents=True, exist_ok=True)
            while True:
                handle = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                if not _flock(handle):
                    raise OutputError(
                        f"another run is writing {self.rollouts}",
                        where="--output",
                        mend="wait for it, or choose another --output",
                    )
                # The holder before us removes its file as it leaves; a lock on a removed file keeps nobody off.
                if self.lock.exists() and os.path.samestat(os.fstat(handle), self.lock.stat()):
                    return handle
                os.close(handle)
        except OSError as error:
            raise OutputError(
                f"{self.rollouts.parent} cannot be written: {reason(error)}", where="--output", mend="choose another --output"
            ) from None


def _changed(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.is_file() else None


def _flock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    return True


@dataclass(slots=True)
class Scored:
    """What is known of the rollouts file: where each row lies, and the fields that the metrics read.

    Attributes:
        fields: Fields to keep of each row, dots for nesting; None keeps whole rows.
    """

    fields: Sequence[str] | None
    _rows: dict[Key, tuple[int, int, Json]] = field(default_factory=dict)
    _end: int = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def load(
        self,
        path: Path,
        check: Callable[[Key, Json, str], None] = lambda key, row, where: None,
        *,
        seen: Callable[[Json], object] = lambda row: None,
    ) -> None:
        """Reads a rollouts file.

        Args:
            path: The file.
            check: Refuses a row by raising; gets its key, itself, and where it stands.
            seen: Is shown every row, whole.

        Raises:
            OutputError: A key stands twice, or a row has none, or is refused.
            UserError: A line is broken.
        """
        for line in read_lines(path):
            where = f"{path}, line {line.number}"
            key = key_of(line.value, where=where)
            if key in self._rows:
                raise OutputError(f"the rollout {key} stands twice", where=where, mend="remove one of the two")
            check(key, line.value, where)
            self.add(key, line.value, line.length, offset=line.offset)
            seen(line.value)
        self._end = path.stat().st_size  # Blank lines may follow the last row.

    def add(self, key: Key, row: Json, length: int, *, offset: int | None = None) -> None:
        """Takes note of a row.

        Args:
            key: Its key.
            row: The row.
            length: Bytes of its line.
            offset: Where it starts; by default at the end of what is known.
        """
        start = self._end if offset is None else offset
        self._rows[key] = (start, length, project(row, self.fields))
        self._end = start + length

    def rows(self) -> list[Json]:
        """The kept fields of all rows, by key."""
        return [self._rows[key][2] for key in sorted(self._rows)]

    def sort(self, path: Path) -> None:
        """Sorts the rollouts file by key, if it is not."""
        places = [(self._rows[key][0], self._rows[key][1]) for key in sorted(self._rows)]
        if places != sorted(places):
            sort_lines(path, places)


def project(row: Mapping[str, Any], fields: Iterable[str] | None) -> Json:
    """The named fields of a row, dots for nesting; fields that are not there are left out."""
    if fields is None:
        return dict(row)
    kept: Json = {}
    for name in fields:
        source: Any = row
        *parents, last = name.split(".")
        for parent in parents:
            source = source.get(parent) if isinstance(source, Mapping) else None
        if isinstance(source, Mapping) and last in source:
            target = kept
            for parent in parents:
                target = target.setdefault(parent, {})
            target[last] = source[last]
    return kept


@dataclass(frozen=True, slots=True)
class FailedBefore:
    """Failed attempts of one rollout.

    Attributes:
        attempts: How many there are.
        terminal: Whether the last is final.
        last: The row of the last.
        forgiven: How many of them do not count against the rollout.
    """

    attempts: int
    terminal: bool
    last: Json
    forgiven: int = 0


def read_failures(path: Path, *, forgiven: int = 0) -> dict[Key, FailedBefore]:
    """The failures file, by key; empty if there is none. Half a last line is warned of, and left out.

    Args:
        path: The file.
        forgiven: How many failures, from the first on, do not count, and are not final.
    """
    failed: dict[Key, FailedBefore] = {}
    for number, line in enumerate(read_lines(path, torn=say_torn) if path.exists() else (), 1):
        key = key_of(line.value, where=f"{path}, line {line.number}")
        before = failed.get(key) or FailedBefore(0, False, {})
        counts = number > forgiven
        terminal = counts and bool(line.value.get(FAILURE_TERMINAL))
        failed[key] = FailedBefore(before.attempts + 1, terminal, line.value, before.forgiven + (not counts))
    return failed


def mend(files: RunFiles) -> list[Path]:
    """Takes half last lines out of the files that grow; says what was put aside."""
    mended = (mend_tail(path) for path in (files.rollouts, files.failures))
    return [path for path in mended if path is not None]
