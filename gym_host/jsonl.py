# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines on disk: read line by line, appended one whole line at a time, replaced only as a whole.

Lines are split at the line feed byte and nothing else. A file can end in half a line where its writer was killed; anywhere
else a broken line is an error, because nobody knows what it was.
"""

from __future__ import annotations

import errno
import glob
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from gym_host.errors import OutputError, UserError

Json = dict[str, Any]

_log = logging.getLogger(__name__)

_CHUNK = 1 << 20
_READABLE = "check its name, and that you may read it"
_UNFINISHED = ".part"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number from 1, where it starts, its length in bytes with the line end, and its object."""

    number: int
    offset: int
    length: int
    value: Json


def read_lines(path: Path, *, torn: Callable[[Path], object] | None = None) -> Iterator[Line]:
    """The lines of a file; blank ones are passed over.

    Args:
        path: The file.
        torn: Half a last line is left out, and this is told of it; None where it is as broken as any other such line.

    Raises:
        UserError: The file cannot be read, or a line is no JSON object.
    """
    offset = 0
    try:
        with path.open("rb") as lines:
            for number, raw in enumerate(lines, start=1):
                start, offset = offset, offset + len(raw)
                if not raw.strip():
                    continue
                if torn is not None and not raw.endswith(b"\n") and not _is_object(raw):
                    torn(path)
                else:
                    yield Line(number, start, len(raw), _object(path, number, raw))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", mend=_READABLE) from None


def say_torn(path: Path) -> None:
    """Warns that half a last line is left out."""
    _log.warning("half a line at the end of %s is left out: its writer was killed, or is still at it", path)


def pass_over_torn(path: Path) -> None:
    """Says nothing of half a last line: somebody else does."""


def _object(path: Path, number: int, raw: bytes) -> Json:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise UserError(
            f"a line is no JSON: {error.msg}", where=f"{path}, line {number}", mend="repair or remove the line"
        ) from None
    if not isinstance(value, dict):
        raise UserError("a line is no JSON object", where=f"{path}, line {number}", mend="repair or remove the line")
    return value


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
            if _is_object(tail):
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


def _is_object(raw: bytes) -> bool:
    try:
        return isinstance(orjson.loads(raw), dict)
    except orjson.JSONDecodeError:
        return False


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
            raise _unwritable(self.path, error) from None
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
            raise _unwritable(self.path, error) from None
        finally:
            os.close(file)


def behind_link(path: Path) -> Path:
    """The file that is meant by a name: where that is a link, which may lead to another disk, what it leads to."""
    return path.resolve() if path.is_symlink() else path


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
            raise _unwritable(path, error) from None
        raise


def clear_unfinished(path: Path) -> None:
    """Removes what a process that was killed while it replaced a file has left beside it; call it where no other may do so."""
    with suppress(OSError):
        path = behind_link(path)
        for left in path.parent.glob(f".{glob.escape(path.name)}.*{_UNFINISHED}"):
            left.unlink(missing_ok=True)


def write_json(path: Path, value: object) -> None:
    """Replaces a JSON file as a whole, indented for reading."""
    write_whole(path, [orjson.dumps(value, option=orjson.OPT_INDENT_2), b"\n"])


def sort_lines(path: Path, order: Iterable[tuple[int, int]]) -> None:
    """Rewrites a file with its lines in another order.

    Args:
        path: The file.
        order: (offset, length) of each line, in the new order.
    """

    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            for offset, length in order:
                file.seek(offset)
                yield file.read(length)

    write_whole(path, lines())


def reason(error: OSError) -> str:
    """Why a file or a folder cannot be made, in plain words."""
    if isinstance(error, FileExistsError):
        return "what lies where its folder should be is a file, or a link to nothing"
    return error.strerror or str(error)


def _unwritable(path: Path, error: OSError) -> OutputError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return OutputError(
        f"{path} cannot be written: {reason(error)}",
        mend="make room on the disk, then run the same command with --resume" if full else "choose another --output",
    )
