# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines on disk, read line by line.

Lines are split at the line feed byte and nothing else. A file can end in half a line where its writer was killed; anywhere
else a broken line is an error, because nobody knows what it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from gym_host.atomic import write_whole
from gym_host.errors import UserError

Json = dict[str, Any]

_log = logging.getLogger(__name__)

_READABLE = "check its name, and that you may read it"


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
                if torn is not None and not raw.endswith(b"\n") and not is_object(raw):
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


def is_object(raw: bytes) -> bool:
    """Whether bytes are one whole JSON object."""
    try:
        return isinstance(orjson.loads(raw), dict)
    except orjson.JSONDecodeError:
        return False


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
