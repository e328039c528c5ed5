# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Tab-separated sheets, as the pack holds them."""

from __future__ import annotations

import pytest

from vera_mh.errors import RubricError
from vera_mh.sheet import read_sheet


def rows(text: str) -> list[dict[str, str]]:
    return [dict(row) for row in read_sheet(text, required=(), what="test").rows]


def test_cells_are_kept_as_they_stand_quotes_and_blanks_included():
    assert rows('a\tb\n"x\t y" \n') == [{"a": '"x', "b": ' y" '}]


def test_line_ends_and_a_byte_order_mark_do_not_belong_to_a_cell():
    assert rows("\ufeffa\tb\r\n1\t2\r\n3\t4") == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_a_short_row_reads_as_blank_cells_and_a_long_one_loses_the_nameless_rest():
    assert rows("a\tb\n1\n1\t2\t3") == [{"a": "1", "b": ""}, {"a": "1", "b": "2"}]


def test_blank_lines_are_passed_over_but_counted():
    sheet = read_sheet("a\tb\n\n1\t2\n \t \n3\t4\n", required=("a",), what="test")
    assert [(line, row["a"]) for line, row in sheet.numbered_rows()] == [(3, "1"), (5, "3")]


def test_a_missing_column_is_named_beside_those_that_are_there():
    with pytest.raises(RubricError, match="the persona sheet lacks the column 'Age'; its header has: Name, Sex"):
        read_sheet("Name\tSex\t\nAna\tf\t", required=("Name", "Age"), what="persona")
