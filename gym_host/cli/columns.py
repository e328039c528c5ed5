# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Plain tables: one line a row, aligned, never wrapped, so that other programs can read them too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest


def columns(rows: Iterable[Sequence[str]], *, indent: str = "") -> str:
    """Rows of texts as aligned lines.

    Args:
        rows: The rows, the heading first if there is one.
        indent: What each line starts with.
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)
