# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A rubric sheet is read into questions with options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rubrics import option, question, rubric, self_answering, sheet_text
from vera_mh.errors import RubricError
from vera_mh.pack import RUBRIC
from vera_mh.rubric import IMPLICIT_OPTIONS, Option, parse_rubric


def test_a_row_without_an_id_adds_an_option_to_the_question_above():
    read = rubric(
        question("1", "A", "Red", "How?", "Such as this.", answer="Yes", goto="END"), option("No", "2"), question("2", "B")
    )
    first = read.first
    assert (first.id, first.dimension, first.severity, first.text, first.examples) == ("1", "A", "Red", "How?", "Such as this.")
    assert first.options == (Option("Yes", "END"), Option("No", "2"))
    assert (first.implicit, first.line) == (False, 2)
    assert (read.questions["2"].severity, read.questions["2"].line) == (None, 4)


def test_a_question_without_an_option_is_an_implicit_yes_or_no():
    second = rubric(question("1", answer="Go on"), question("2"), option("")).questions["2"]
    assert second.options == IMPLICIT_OPTIONS == (Option("Yes"), Option("No"))
    assert second.implicit


@pytest.mark.parametrize("blank", ["", "   ", "nan", " nan "])
def test_a_cell_of_blanks_or_nan_is_empty(blank):
    first = rubric(question("1", dimension=blank, severity=blank, examples=blank, answer=blank, goto="END")).first
    assert (first.dimension, first.severity, first.examples, first.implicit) == ("", None, "", True)


def test_cells_are_stripped():
    first = rubric(question(" 1 ", " A ", " Red ", " How? ", " x ", answer=" Yes ", goto=" 2 ")).first
    assert (first.id, first.dimension, first.severity, first.text, first.examples) == ("1", "A", "Red", "How?", "x")
    assert first.options == (Option("Yes", "2"),)


@given(st.integers(0, 10**6), st.integers(1, 3))
def test_an_id_that_is_a_whole_number_loses_its_decimals_in_both_columns(number, zeros):
    written = f"{number}.{'0' * zeros}"
    read = rubric(question(written, "A", answer="Yes", goto=written))
    assert read.order == (str(number),)
    assert read.first.options[0].goto == str(number)


@pytest.mark.parametrize("id_", ["7.5", "7a.0", "NOT_RELEVANT>>7.0", "v1.0", ".0"])
def test_an_id_that_is_no_whole_number_stays_as_it_is(id_):
    assert rubric(question("1", answer="Yes", goto=id_)).first.options[0].goto == id_


def test_an_option_before_the_first_question_belongs_to_none():
    assert rubric(option("Yes", "END"), question("1")).first.implicit


def test_of_a_repeated_id_the_last_row_counts():
    read = rubric(question("1", text="Old?"), question("1", text="New?"))
    assert read.first.text == "New?"
    assert read.order == ("1", "1")


def test_dimensions_are_the_distinct_names_in_the_order_of_the_sheet():
    read = rubric(question("1", "B"), question("2"), question("3", "A"), question("4", " B "))
    assert read.dimensions == ("B", "A")


def test_the_next_question_is_the_one_below_and_the_last_has_none():
    read = rubric(question("1"), question("2"))
    assert read.following(read.first) is read.questions["2"]
    assert read.following(read.questions["2"]) is None


def test_the_next_dimension_passes_over_blank_ones():
    read = rubric(question("1", "A"), question("2", "A"), question("3"), question("4", "B"))
    assert read.next_dimension(read.first) is read.questions["4"]
    assert read.next_dimension(read.questions["3"]) is read.questions["4"]
    assert read.next_dimension(read.questions["4"]) is None
    back = rubric(question("1", "A"), question("2", "B"), question("3", "B"), question("4", "A"))
    assert back.next_dimension(back.questions["2"]) is back.questions["4"]


def test_an_option_is_found_by_its_text_in_any_case_and_only_whole():
    first = rubric(question("1", answer="No risk"), option("Some risk")).first
    assert first.option("NO RISK") == Option("No risk")
    assert first.option("No") is None


@pytest.mark.parametrize("text", ['Select "Rate this dimension Not Relevant".', '  sElEcT "rate this dimension not relevant".  '])
def test_the_question_that_only_marks_its_dimension_answers_itself(text):
    assert rubric(question("1", text=text)).first.answers_itself
    assert rubric(self_answering("1", "A", "END")).first.answers_itself


def test_a_question_that_only_speaks_of_not_relevant_is_asked():
    assert not rubric(question("1", text='Select "Rate this dimension Not Relevant"')).first.answers_itself


def test_a_rubric_without_a_question_or_a_column_is_refused():
    with pytest.raises(RubricError, match="the rubric has no question"):
        parse_rubric(sheet_text(option("Yes")))
    with pytest.raises(RubricError, match="the rubric sheet lacks the column 'GOTO'"):
        parse_rubric(sheet_text(question("1")).replace("GOTO", "GO TO"))


def test_the_real_rubric_has_36_questions_in_five_dimensions_over_69_rows(pack):
    read = parse_rubric(pack.text(RUBRIC))
    assert (len(read.questions), len(read.order), len(read.dimensions)) == (36, 36, 5)
    # The last question is implicit, so that it stands on the last line: the header and 69 rows.
    assert read.questions[read.order[-1]].line == 70
