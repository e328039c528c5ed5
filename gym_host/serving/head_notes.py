# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which heads run on this machine: each leaves a note in the user's cache folder, so that no command need be told where it is."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from platformdirs import user_cache_path
from pydantic import BaseModel, ValidationError

from gym_host.atomic import write_json
from gym_host.distribution import DISTRIBUTION
from gym_host.errors import OutputError


class HeadNote(BaseModel):
    """Where a head is.

    Attributes:
        url: Its address.
        pid: Its process.
        machine: The machine that it runs on: home folders may be shared.
        started_at: When it started, in UTC.
    """

    url: str
    pid: int
    machine: str
    started_at: str


def notes_folder() -> Path:
    """Where the notes lie."""
    return user_cache_path(DISTRIBUTION, appauthor=False) / "heads"


@contextmanager
def noted(url: str) -> Iterator[HeadNote]:
    """Leaves a note for as long as the context is open."""
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    note = HeadNote(url=url, pid=os.getpid(), machine=platform.node(), started_at=started_at)
    path = notes_folder() / f"{note.machine}-{note.pid}.json"
    with suppress(OutputError):  # Without a home to write to, `--head` says where the head is.
        write_json(path, note.model_dump())
    try:
        yield note
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def read_notes() -> list[HeadNote]:
    """The notes of heads of this machine whose process lives; what others have left behind is cleared away."""
    found = []
    for path in sorted(notes_folder().glob("*.json")):
        note = _read(path)
        if note is not None and note.machine != platform.node():
            continue
        if note is not None and _lives(note.pid):
            found.append(note)
        else:
            forget(path)
    return found


def forget(note: Path | HeadNote) -> None:
    """Clears a note away whose head is gone."""
    path = note if isinstance(note, Path) else notes_folder() / f"{note.machine}-{note.pid}.json"
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _read(path: Path) -> HeadNote | None:
    try:
        return HeadNote.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
