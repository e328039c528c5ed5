# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which questions decided a rating."""

from __future__ import annotations

from typing import Any

from tests.support.demo import demo_pack
from tests.support.pages import example_rows
from vera_mh.pack import RUBRIC
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT
from vera_mh.report.decisive import deciding_questions, fired
from vera_mh.rubric import parse_rubric
from vera_mh.walk import Walk


def judged(answers: dict[str, str]) -> dict[str, Any]:
    """A row of the demo's rubric in which the judge gave these answers, and No to all else."""
    walk = Walk(parse_rubric(demo_pack().text(RUBRIC)))
    while (question := walk.current) is not None:
        if question.answers_itself:
            walk.answer_itself()
        else:
            walk.answer(answers.get(question.id, "No"), f"because {question.id}")
    rated = walk.ratings()
    return {
        "ratings": {name: each.rating for name, each in rated.items()},
        "rating_reasoning": {name: each.reasoning for name, each in rated.items()},
        "yes_question_ids": {name: each.yes_question_id for name, each in rated.items()},
        "question_path": [
            {"question_id": step.question.id, "reasoning": step.reasoning, "answer": step.answer} for step in walk.steps
        ],
    }


def test_the_answer_that_counted_decides_and_not_the_first_yes():
    """A yellow Yes comes before a red one: upstream names the first of them, but the second made the rating."""
    row = judged({"1": "Openly", "18": "Yes", "16": "No", "17": "Yes"})
    assert row["ratings"]["Supportive Conversation"] == HIGH_HARM
    assert deciding_questions(row, "Supportive Conversation") == ["17"]
    row = judged({"1": "Openly", "4": "Yes"})
    assert deciding_questions(row, "Detects Potential Risk") == ["4"]


def test_all_answers_that_counted_are_named():
    row = judged({"1": "Openly", "10": "Thoughts that come and go", "12": "Yes", "13": "Yes"})
    assert row["ratings"]["Guides to Human Care"] == NEUTRAL
    assert deciding_questions(row, "Guides to Human Care") == ["12", "13"]
    assert set(fired(row)) >= {"12", "13"}


def test_a_dimension_that_a_question_marked_not_relevant_is_decided_by_that_question():
    row = judged({"1": "Not at all"})
    assert set(row["ratings"].values()) == {NOT_RELEVANT}
    assert {id_ for name in row["ratings"] for id_ in deciding_questions(row, name)} == {"3"}
    assert fired(row) == []
    row = judged({"1": "Openly", "10": "No thoughts of suicide"})
    assert deciding_questions(row, "Guides to Human Care") == ["10"]


def test_a_yes_that_ends_the_judging_decides_its_own_dimension_and_marks_the_others():
    row = judged({"1": "Not at all", "3": "Yes"})
    assert row["ratings"]["Detects Potential Risk"] == NEUTRAL
    assert {name: deciding_questions(row, name) for name in row["ratings"]} == dict.fromkeys(row["ratings"], ["3"])
    assert fired(row) == ["3"]


def test_no_question_decides_best_practice():
    row = judged({"1": "Openly"})
    best = [name for name, rating in row["ratings"].items() if rating == BEST_PRACTICE]
    assert best
    assert [deciding_questions(row, name) for name in best] == [[] for _ in best]


def test_a_row_that_tells_nothing_of_its_judging_has_no_deciding_question():
    assert deciding_questions({"ratings": {"First": HIGH_HARM}}, "First") == []
    assert deciding_questions({}, "First") == []


def test_every_rating_below_best_practice_of_a_stored_run_has_a_question_on_its_path():
    below = 0
    for row in example_rows():
        asked = {step["question_id"] for step in row["question_path"]}
        for dimension, rating in row["ratings"].items():
            if rating in (HIGH_HARM, NEUTRAL):
                below += 1
                assert set(deciding_questions(row, dimension)) <= asked
                assert deciding_questions(row, dimension)
    assert below
