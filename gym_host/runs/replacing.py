# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What `--overwrite` replaces is kept beside the new files until the new run has scored something.

That a key is refused or a model has another name may show at the first answer only, and then the earlier run is all there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gym_host.atomic import behind_link
from gym_host.errors import OutputError
from gym_host.jsonl import Json
from gym_host.runs.keys import Key
from gym_host.runs.rollouts import Observer
from gym_host.runs.run_files import RunFiles


def kept_as(path: Path) -> Path:
    """Where a file of a run that is being replaced is kept."""
    path = behind_link(path)
    return path.with_name(f"{path.name}.replaced")


def kept(files: RunFiles) -> list[Path]:
    """What is kept of a run that is being replaced."""
    return [kept_as(path) for path in files.all if kept_as(path).exists()]


def set_aside(files: RunFiles) -> None:
    """Makes room for a new run.

    Raises:
        OutputError: A file cannot be moved.
    """
    try:
        worthless = bool(kept(files)) and not _holds_something(files.rollouts)
        # The record first, without which nobody takes the rest for a run.
        for path in reversed(files.existing()):
            if worthless:  # A run that itself replaced another and scored nothing: the other stays the one to be kept.
                behind_link(path).unlink()
            else:
                behind_link(path).replace(kept_as(path))
    except OSError as error:
        raise OutputError(f"{files.rollouts} cannot be replaced: {error.strerror}", mend="choose another --output") from None


def _holds_something(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def drop(files: RunFiles) -> None:
    """Removes what was kept."""
    for path in kept(files):
        path.unlink(missing_ok=True)


@dataclass(slots=True)
class DroppedOnceScored:
    """An observer before another one: what was kept goes with the first rollout that is scored.

    Attributes:
        files: The files of the run.
        observer: The other one.
    """

    files: RunFiles
    observer: Observer
    dropped: bool = False

    def started(self, key: Key) -> None:
        self.observer.started(key)

    def finished(self, key: Key, row: Json, *, failed: bool) -> None:
        if not failed and not self.dropped:
            self.dropped = True
            drop(self.files)
        self.observer.finished(key, row, failed=failed)
