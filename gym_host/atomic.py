# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are replaced as a whole: whoever reads one sees the old content or the new, never half of either."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import orjson

from gym_host.errors import OutputError

_UNFINISHED = ".part"


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Replaces a file as a whole: a temporary file beside it, fsync, rename. A reader sees the old one or the new one.

    Where a link to a file is given, that file is replaced and the link stays.

    Raises:
        OutputError: The file could not be written; the old one is as it was.
    """
    temporary: str | None = None
    try:
        path = behind_link(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_UNFINISHED, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


def write_json(path: Path, value: object) -> None:
    """Replaces a JSON file as a whole, indented for reading."""
    write_whole(path, [orjson.dumps(value, option=orjson.OPT_INDENT_2), b"\n"])


def clear_unfinished(path: Path) -> None:
    """Removes what a process that was killed while it replaced a file has left beside it; call it where no other may do so."""
    with suppress(OSError):
        path = behind_link(path)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"):
            left.unlink(missing_ok=True)


def behind_link(path: Path) -> Path:
    """The file that is meant by a name: where that is a link, which may lead to another disk, what it leads to.

    Raises:
        OSError: It is a link that leads back to itself.
    """
    if not path.is_symlink():
        return path
    target = real(path)
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def real(path: Path) -> Path:
    """The path without links, by which two names of one file are known; a link that leads back to itself stays in it.

    `Path.resolve` makes an error of such a link in some versions of Python, and none in others.
    """
    return Path(os.path.realpath(path))


def unwritable(path: Path, error: OSError) -> OutputError:
    """The error to raise where a file cannot be written."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return OutputError(
        f"{path} cannot be written: {reason(error)}",
        mend="make room on the disk, then run the same command with --resume" if full else "choose another --output",
    )


def reason(error: OSError) -> str:
    """Why a file or a folder cannot be made, in plain words."""
    if isinstance(error, FileExistsError):
        return "what lies where its folder should be is a file, or a link to nothing"
    return error.strerror or str(error)
