# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a run: what they are called, and who may write them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gym_host.atomic import clear_unfinished, real, reason
from gym_host.errors import OutputError, UserError
from gym_host.journal import mend_tail

_ENDINGS = ("_failures", "_materialized_inputs")
_LONGEST_NAME = 200


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
        read = {real(path) for path in sources}
        taken = next((path for path in (*self.all, self.report) if real(path) in read), None)
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


def mend(files: RunFiles) -> list[Path]:
    """Takes half last lines out of the files that grow; says what was put aside."""
    mended = (mend_tail(path) for path in (files.rollouts, files.failures))
    return [path for path in mended if path is not None]
