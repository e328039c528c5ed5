# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a persona sheet and its template."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.demo import demo_pack
from vera_mh.checks.findings import Finding
from vera_mh.checks.persona_check import check_personas
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS

HEADER = "Name\tAge\tDisclosure of Suicide Risk\tShort Current Suicide Risk Level"
ANA = "Ana\t30\tOpen\tLow"
BO = "Bo\t40\tGuarded\tNone"
TEMPLATE = "You are {Name}, {Age}."


def checked(*rows: str, template: str = TEMPLATE) -> list[Finding]:
    return check_personas("\n".join([HEADER, *rows]), template)


def only(*rows: str, template: str = TEMPLATE) -> tuple[bool, str, int | None, str]:
    (finding,) = checked(*rows, template=template)
    assert finding.mend
    return finding.is_error, finding.file, finding.row, finding.what


def test_a_sound_sheet_has_no_finding():
    assert checked(ANA, BO) == []


def test_the_demo_and_the_pinned_sheet_have_no_finding(pack):
    for each in (demo_pack(), pack):
        assert check_personas(each.text(PERSONAS), each.text(PERSONA_TEMPLATE)) == []


def test_a_missing_column_or_a_sheet_without_a_persona_is_one_error_of_the_header():
    for text in ("", "Name\tAge\nAna\t30", HEADER):
        (finding,) = check_personas(text, TEMPLATE)
        assert (finding.is_error, finding.file, finding.row) == (True, PERSONAS, 1)


def test_two_personas_of_one_name_are_an_error_of_the_later_row():
    error, file, row, what = only(ANA, "", BO, "Bo\t50\tOpen\tHigh")
    assert (error, file, row) == (True, PERSONAS, 5)
    assert "row 4 too" in what


@pytest.mark.parametrize(
    ("column", "place"), [("Name", 0), ("Disclosure of Suicide Risk", 2), ("Short Current Suicide Risk Level", 3)]
)
def test_an_empty_required_cell_is_an_error_of_its_row(column, place):
    cells = BO.split("\t")
    cells[place] = " "
    assert only(ANA, "\t".join(cells)) == (True, PERSONAS, 3, f"the column {column} is empty")


def test_an_empty_cell_that_the_prompt_uses_is_a_warning_and_another_is_not():
    error, file, row, what = only(ANA, "Bo\t\tGuarded\tNone")
    assert (error, file, row, "Age" in what) == (False, PERSONAS, 3, True)
    assert checked(ANA, "Bo\t\tGuarded\tNone", template="You are {Name}.") == []


def test_a_risk_level_that_is_none_of_the_four_is_a_warning():
    error, _, row, what = only(ANA, "Bo\t40\tGuarded\tlow")
    assert (error, row, "`low`" in what) == (False, 3, True)


@pytest.mark.parametrize("template", ["{Shoe size}", "{", "{0}", "{}", "{Name.age}", "{Name[age]}", "{Name:d}"])
def test_a_template_that_the_sheet_cannot_fill_is_an_error(template):
    error, file, row, what = only(ANA, template=template)
    assert (error, file, row) == (True, PERSONA_TEMPLATE, None)
    assert "cannot be filled" in what


def test_a_template_that_uses_no_column_is_an_error():
    assert only(ANA, template="You are {{somebody}}.")[:2] == (True, PERSONA_TEMPLATE)


@given(st.text("{}Name.[]:!0 ", max_size=20), st.lists(st.text("\tA\r ", max_size=20), max_size=4))
def test_nothing_is_too_odd_to_be_checked(template, rows):
    assert all(finding.what and finding.mend for finding in checked(*rows, template=template))
