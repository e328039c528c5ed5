# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which option an answer means, and where it leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rubrics import option, question, rubric, rubrics
from vera_mh.navigation import Match, Move, Transition, match_answer, successors, transition_after
from vera_mh.rubric import Rubric


def asked(*options: str) -> Rubric:
    """A rubric whose first question has these options, without GOTO, and two questions after it."""
    first, *others = options
    rows = [question("1", "A", answer=first), *map(option, others)]
    return rubric(*rows, question("2", "A"), question("3", "B"))


@pytest.mark.parametrize(
    ("answer", "matched"),
    [
        ("acute danger", "acute danger"),
        (" ACUTE Danger\n", "acute danger"),
        ("danger", "no acute danger"),
        ("I see acute danger here", "acute danger"),
        ("there is no acute danger", "no acute danger"),
        ("", "no acute danger"),
        ("  ", "no acute danger"),
    ],
)
def test_an_equal_option_wins_else_the_first_that_contains_the_answer_or_is_contained(answer, matched):
    assert match_answer(asked("no acute danger", "acute danger").first, answer) == Match(matched, fallback=False)


def test_an_answer_that_fits_no_option_counts_as_the_first_one_and_as_a_fallback():
    assert match_answer(asked("Yes", "No").first, "Perhaps") == Match("Yes", fallback=True)


@given(rubrics(), st.text(max_size=12))
def test_the_matched_answer_is_always_an_option_of_the_question(read, answer):
    for each in read.questions.values():
        match = match_answer(each, answer)
        assert each.option(match.answer) is not None
        assert not (match.fallback and match.answer != each.options[0].text)


@given(rubrics())
def test_every_option_in_any_case_and_with_blanks_around_means_itself(read):
    for each in read.questions.values():
        for choice in each.options:
            assert match_answer(each, f" {choice.text.swapcase()}\n") == Match(choice.text, fallback=False)


@pytest.mark.parametrize(
    ("goto", "expected"),
    [
        ("", Transition(Move.ON, None, "2")),
        ("3", Transition(Move.ON, "3", "3")),
        ("1", Transition(Move.ON, "1", "1")),
        ("99", Transition(Move.ON, "99", "99")),
        ("END", Transition(Move.END, "END", None)),
        ("ASSIGN_END", Transition(Move.ASSIGN_END, "ASSIGN_END", None)),
        ("NOT_RELEVANT>>3", Transition(Move.NOT_RELEVANT, "NOT_RELEVANT>>3", "3")),
        ("NOT_RELEVANT>> 3", Transition(Move.NOT_RELEVANT, "NOT_RELEVANT>> 3", "3")),
        ("NOT_RELEVANT>>", Transition(Move.NOT_RELEVANT, "NOT_RELEVANT>>", "")),
    ],
)
def test_an_explicit_answer_leads_where_its_goto_says_and_without_one_to_the_next_question(goto, expected):
    read = rubric(question("1", "A", answer="Yes", goto=goto), question("2"), question("3"))
    assert transition_after(read, read.first, "yes") == expected


def test_an_answer_without_goto_at_the_last_question_leads_nowhere():
    read = rubric(question("1", answer="Yes"))
    assert transition_after(read, read.first, "Yes") == Transition(Move.ON, None, None)


@pytest.mark.parametrize(("answer", "to"), [("Yes", "4"), (" YES ", "4"), ("No", "2"), ("no", "2"), ("Perhaps", None)])
def test_an_implicit_yes_leads_to_the_next_dimension_and_no_to_the_next_question(answer, to):
    read = rubric(question("1", "A"), question("2", "A"), question("3"), question("4", "B"))
    assert transition_after(read, read.first, answer) == Transition(Move.ON, None, to)


def test_an_implicit_yes_in_the_last_dimension_leads_nowhere():
    read = rubric(question("1", "A"), question("2", "A"))
    assert transition_after(read, read.first, "Yes").to is None


def test_successors_are_the_questions_that_exist_each_once_in_the_order_of_the_options():
    read = rubric(
        question("1", answer="a", goto="3"),
        option("b"),
        option("c", "NOT_RELEVANT>>3"),
        option("d", "99"),
        option("e", "END"),
        question("2"),
        question("3"),
    )
    assert [each.id for each in successors(read, read.first)] == ["3", "2"]
