# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines that only grow: appended one whole line at a time, and mended where a writer was killed in the middle of one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import orjson

from gym_host.atomic import unwritable
from gym_host.errors import OutputError
from gym_host.jsonl import Json, is_object

_CHUNK = 1 << 20


class Journal:
    """A file that only grows, one whole line at a time.

    Each line is one write at the end of the file, so that a process killed at any instant leaves at most half a last line. A
    write that fails half-way (disk full) is taken back.

    Args:
        path: The file; made if it is not there.

    Raises:
        OutputError: The file cannot be opened for writing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror}", mend="choose another --output") from None

    def append(self, value: Json) -> int:
        """Appends one object as a line, and returns its length in bytes.

        Raises:
            OutputError: The line could not be written; the file ends with the last whole line.
        """
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        size = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, memoryview(line)[written:])
        except OSError as error:
            with suppress(OSError):  # What cannot be taken back is put aside by `mend_tail`.
                os.ftruncate(self._file, size)
            raise unwritable(self.path, error) from None
        return len(line)

    def close(self) -> None:
        """Closes the file once it is on the disk.

        Raises:
            OutputError: The disk did not take it.
        """
        file, self._file = self._file, -1
        if file < 0:
            return
        try:
            os.fsync(file)
        except OSError as error:
            raise unwritable(self.path, error) from None
        finally:
            os.close(file)


def mend_tail(path: Path) -> Path | None:
    """Takes half a last line, left by a writer that was killed, out of a file.

    A last line that is whole but for its line end is given that. Anything else without a line end is moved to a file beside it.

    Returns:
        The file with what was taken out, or None if nothing was.

    Raises:
        OutputError: The file cannot be changed.
    """
    if not path.exists():
        return None
    try:
        with path.open("r+b") as file:
            start, tail = _unended(file)
            if not tail:
                return None
            if is_object(tail):
                file.seek(0, os.SEEK_END)
                file.write(b"\n")
                return None
            backup = path.with_name(f"{path.name}.torn-{start}")
            backup.write_bytes(tail)
            file.truncate(start)
            return backup
    except OSError as error:
        raise OutputError(f"{path} cannot be repaired: {error.strerror}") from None


def _unended(file: BinaryIO) -> tuple[int, bytes]:
    """Where the bytes behind the last line end start, and those bytes; read from the end, as the file may be large."""
    position = file.seek(0, os.SEEK_END)
    tail = b""
    while position > 0 and b"\n" not in tail:
        step = min(_CHUNK, position)
        position = file.seek(position - step)
        tail = file.read(step) + tail
    start = tail.rfind(b"\n") + 1
    return position + start, tail[start:]
