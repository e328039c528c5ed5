# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a tab-separated sheet whatever it holds: most often that it was saved in another format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vera_mh.checks.findings import ERROR, WARNING, Finding

_QUOTE = '"'


def check_sheet(text: str, *, read: Sequence[str], file: str) -> Iterator[Finding]:
    """All that is wrong with the sheet as such.

    Args:
        text: The sheet; its header has the columns that are read.
        read: The columns that are read.
        file: Name of the file, for the findings.
    """
    header, *lines = (line.removesuffix("\r").split("\t") for line in text.removeprefix("\ufeff").split("\n"))
    for column in read:
        if header.count(column) > 1:
            what = f"the header has the column {column} {header.count(column)} times, and the last of them is read"
            yield Finding(ERROR, file, 1, what, "give every column a name of its own")
    for row, cells in enumerate(lines, start=2):
        if any(cell.strip() for cell in cells[len(header) :]):
            what = f"this row has {len(cells)} cells and the header {len(header)}, so what goes beyond is not read"
            yield Finding(ERROR, file, row, what, "a tab inside a cell starts the next one: take it out")
        if any(_is_quoted(cell) for cell in cells):
            what = "a cell stands in quotation marks with doubled ones inside, and all of them are read as they stand"
            yield Finding(WARNING, file, row, what, "save the sheet as tab-separated text without quoting")
        if cells[-1].startswith(_QUOTE) and cells[-1].count(_QUOTE) % 2:
            what = "the last cell opens a quotation mark and does not close it, as a cell with a line break in it would"
            yield Finding(
                WARNING, file, row, what, "take line breaks out of the cells: a row of the sheet is one line of the file"
            )


def _is_quoted(cell: str) -> bool:
    return len(cell) > 3 and cell.startswith(_QUOTE) and cell.endswith(_QUOTE) and _QUOTE * 2 in cell[1:-1]
