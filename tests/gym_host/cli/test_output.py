# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How tables are printed, whatever the width of the terminal."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from gym_host.cli.output import show_tables

TABLE: dict[str, Any] = {
    "title": "By dimension",
    "columns": ["Dimension", "Score", "95% interval", "Ratings"],
    "rows": [["Detects Potential Risk", "1,000.25", "88.89 to 98.57", "12"], ["Supportive Conversation", "-", "-", "5"]],
}


@pytest.mark.parametrize("width", [20, 40, 60, 110])
def test_no_number_and_no_word_is_broken_in_two_however_narrow_the_terminal_is(width: int):
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    show_tables(console, [TABLE], [])
    said = console.file.getvalue()  # type: ignore[attr-defined]
    words = {word for cells in [TABLE["columns"], *TABLE["rows"]] for cell in cells for word in cell.split()}
    assert set(said.split()) >= words


def test_no_line_of_a_table_ends_in_blanks_where_a_program_may_read_it():
    console = Console(file=StringIO(), width=110)
    show_tables(console, [{"title": "", "columns": ["", ""], "rows": [["a", "longer"], ["b", "c"]]}], [])
    assert console.file.getvalue() == "a  longer\nb  c\n\n"  # type: ignore[attr-defined]
