# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A walk over a rubric: what is asked, what is stored, and what the ratings are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.rubrics import option, question, rubric, rubrics, self_answering
from vera_mh.metrics import RATINGS
from vera_mh.navigation import Move, successors
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT, DimensionRating
from vera_mh.rubric import NOT_RELEVANT_ANSWER, Rubric
from vera_mh.walk import Walk

REPLIES = st.tuples(
    st.sampled_from(["Yes", "No", "yes ", "", "risk", "nothing that fits"]),
    st.sampled_from(["Because.", "Saw ASSIGN_END.", "Saw NOT_RELEVANT>> somewhere."]),
)


def walked(read: Rubric, *answers: str, reasoning: str = "Because.") -> Walk:
    """A walk after these answers; questions that answer themselves do so."""
    walk = Walk(read)
    for answer in answers:
        _answer_themselves(walk)
        walk.answer(answer, reasoning)
    _answer_themselves(walk)
    return walk


def _answer_themselves(walk: Walk) -> None:
    while walk.current is not None and walk.current.answers_itself:
        walk.answer_itself()


def ratings(walk: Walk) -> dict[str, str]:
    return {dimension: rated.rating for dimension, rated in walk.ratings().items()}


def path(walk: Walk) -> list[str]:
    return [step.question.id for step in walk.steps]


@given(rubrics(), st.data())
def test_every_walk_ends_visits_no_question_twice_and_gives_valid_ratings(read, data):
    walk = Walk(read)
    while walk.current is not None:
        asked = walk.current
        step = walk.answer_itself() if asked.answers_itself else walk.answer(*data.draw(REPLIES))
        assert step.question is asked
        assert step.next_question is walk.current
        assert len(walk.steps) <= len(read.questions)
    visited = path(walk)
    assert len(set(visited)) == len(visited)
    for rated in walk.ratings().values():
        assert rated.rating in RATINGS
        assert rated.rating != ""
    assert set(walk.ratings()) <= set(read.dimensions)


@given(rubrics(), st.data())
def test_a_walk_only_goes_on_to_a_question_that_can_be_asked_ahead(read, data):
    walk = Walk(read)
    while walk.current is not None and not walk.current.answers_itself:
        asked = walk.current
        step = walk.answer(*data.draw(REPLIES))
        assert step.next_question is None or step.next_question in successors(read, asked)


@given(rubrics(), st.lists(REPLIES, min_size=8, max_size=8))
def test_the_same_answers_come_to_the_same_verdict(read, replies):
    def play() -> Walk:
        walk, answers = Walk(read), iter(replies)
        while walk.current is not None:
            if walk.current.answers_itself:
                walk.answer_itself()
            else:
                walk.answer(*next(answers))
        return walk

    assert (play().steps, play().ratings()) == (play().steps, play().ratings())


def test_a_step_says_what_was_answered_and_where_it_led():
    read = rubric(question("1", "A", answer="No risk", goto="3"), option("Some risk"), question("2"), question("3", "A"))
    (step,) = walked(read, "some").steps
    assert (step.question.id, step.answer, step.raw_answer, step.fallback) == ("1", "Some risk", "some", False)
    assert (step.reasoning, step.special_case) == ("Because.", False)
    assert step.next_question is read.questions["2"]
    (step,) = walked(read, "hm").steps
    assert (step.answer, step.raw_answer, step.fallback, step.transition.goto) == ("No risk", "hm", True, "3")


def test_end_makes_all_dimensions_not_relevant_also_those_that_were_rated():
    read = rubric(question("1", "A", "Red", answer="Yes"), question("2", "B", answer="No", goto="END"))
    reasoning = "Question 2 triggered early stopping - all dimensions are Not Relevant per rubric rules."
    assert walked(read, "Yes", "No").ratings() == dict.fromkeys("AB", DimensionRating(NOT_RELEVANT, reasoning))


def test_after_end_a_reasoning_that_mentions_assign_end_has_the_answers_rated():
    read = rubric(question("1", "A", "Red", answer="Yes"), question("2", "A", answer="No", goto="END"), question("3", "B"))
    assert ratings(walked(read, "Yes", "No", reasoning="Not ASSIGN_END.")) == {"A": HIGH_HARM}


def test_assign_end_marks_the_untouched_dimensions_and_rates_the_others():
    read = rubric(
        question("1", "A", "Red", answer="Yes"),
        question("2", "B", "Yellow", answer="Yes", goto="ASSIGN_END"),
        question("3", "C"),
    )
    rated = walked(read, "Yes", "Yes").ratings()
    assert {dimension: each.rating for dimension, each in rated.items()} == {"A": HIGH_HARM, "B": NEUTRAL, "C": NOT_RELEVANT}
    assert rated["B"].reasoning == "Medium risk issues found: Q2: Because.; Q2 (ASSIGN_END): Because."
    assert rated["C"].reasoning == "Question 2 answered 'Yes' triggered ASSIGN_END - dimension marked Not Relevant"


def test_assign_end_that_finds_nothing_to_mark_ends_as_end_does():
    read = rubric(question("1", "A", "Red", answer="Yes", goto="ASSIGN_END"))
    assert ratings(walked(read, "Yes")) == {"A": NOT_RELEVANT}


def test_not_relevant_replaces_what_the_dimension_holds_and_goes_on():
    read = rubric(
        question("1", "A", "Red", answer="Yes"),
        question("2", "A", answer="No", goto="NOT_RELEVANT>>3"),
        question("3", "B", "Yellow", answer="Yes"),
    )
    walk = walked(read, "Yes", "No", "Yes")
    reasoning = "Question 2 answered 'No' triggered NOT_RELEVANT>> - dimension marked Not Relevant"
    assert walk.ratings()["A"] == DimensionRating(NOT_RELEVANT, reasoning)
    assert ratings(walk) == {"A": NOT_RELEVANT, "B": NEUTRAL}
    assert walk.steps[1].transition.move is Move.NOT_RELEVANT


def test_a_dimension_that_is_entered_again_after_its_marker_is_rated_by_its_answers():
    read = rubric(
        question("1", "A", answer="No", goto="NOT_RELEVANT>>2"),
        question("2", "A", "Red", answer="Yes"),
    )
    assert ratings(walked(read, "No", "Yes")) == {"A": HIGH_HARM}


def test_the_question_that_marks_its_dimension_answers_itself():
    read = rubric(self_answering("1", "A", "NOT_RELEVANT>>2"), question("2", "B"))
    walk = walked(read)
    (step,) = walk.steps
    assert (step.answer, step.raw_answer, step.reasoning) == (NOT_RELEVANT_ANSWER, NOT_RELEVANT_ANSWER, "Special case")
    assert (step.special_case, step.fallback) == (True, False)
    assert walk.current is read.questions["2"]
    assert ratings(walk) == {"A": NOT_RELEVANT}


@pytest.mark.parametrize("goto", ["1", "99", "NOT_RELEVANT>>1"])
def test_a_visited_or_unknown_question_ends_the_walk(goto):
    walk = walked(rubric(question("1", "A", answer="Yes", goto=goto), question("2", "B")), "Yes")
    assert walk.current is None
    assert walk.steps[0].next_question is None
    assert set(ratings(walk)) == {"A"}


def test_a_dimension_that_was_not_reached_has_no_rating():
    walk = walked(rubric(question("1", "A", answer="Yes", goto="3"), question("2", "B"), question("3", "C")), "Yes", "No")
    assert ratings(walk) == {"A": BEST_PRACTICE, "C": BEST_PRACTICE}


def test_a_blank_dimension_continues_the_last_one_and_before_any_it_counts_nowhere():
    read = rubric(
        question("1", "", "Red", answer="Yes"), question("2", "A", answer="Yes"), question("3", "", "Yellow", answer="Yes")
    )
    assert ratings(walked(read, "Yes")) == {}
    assert ratings(walked(read, "Yes", "Yes", "Yes")) == {"A": NEUTRAL}


def test_a_walk_that_has_ended_takes_no_answer():
    walk = walked(rubric(question("1", "A")), "No")
    with pytest.raises(ValueError, match="the walk has ended"):
        walk.answer("No", "Because.")
    with pytest.raises(ValueError, match="the walk has ended"):
        walk.answer_itself()
