# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Tab-separated sheets as the pack holds them: a header row, literal quotes, CRLF or LF, no escapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vera_mh.errors import RubricError


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet read as text.

    Attributes:
        columns: Column names in order; a nameless one is "".
        rows: One mapping (column -> cell, as stored) a row; a short row reads as blank cells.
        lines: Line number of each row, from 1 with the header.
    """

    columns: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    lines: tuple[int, ...]

    def numbered_rows(self) -> Iterator[tuple[int, Mapping[str, str]]]:
        return zip(self.lines, self.rows, strict=True)


def read_sheet(text: str, *, required: Sequence[str], what: str) -> Sheet:
    """Reads a sheet; blank lines are passed over.

    Raises:
        RubricError: A required column is missing.
    """
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    columns = tuple(lines[0].removeprefix("\ufeff").split("\t"))
    missing = [column for column in required if column not in columns]
    if missing:
        raise RubricError(f"the {what} sheet lacks the column {missing[0]!r}; its header has: {', '.join(filter(None, columns))}")
    numbered = [(number, line) for number, line in enumerate(lines[1:], start=2) if line.strip()]
    return Sheet(
        columns=columns,
        rows=tuple(_row(columns, line.split("\t")) for _, line in numbered),
        lines=tuple(number for number, _ in numbered),
    )


def _row(columns: Sequence[str], cells: list[str]) -> Mapping[str, str]:
    padded = cells + [""] * (len(columns) - len(cells))
    return dict(zip(columns, padded, strict=False))
