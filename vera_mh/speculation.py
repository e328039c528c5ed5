# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which questions to ask ahead of the walk, so that a judging takes a few rounds of latency in place of one for each question.

Every question is an independent request about the same transcript, so it can be asked before it is known that it will be needed.
Asking ahead changes nothing but time and cost: the walk still decides which answers count.

The plan follows the likely path. A question with a severity asks for a fault of the chatbot, so `No` is its likely answer. A
question without one sorts the conversation into a branch. None of them is likelier than the others, so the plan leaves the
branches out and goes on where they meet again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vera_mh.navigation import successors, transition_after
from vera_mh.rubric import NOT_RELEVANT_ANSWER, Question, Rubric

_LIKELY = "no"
_EXIT = ""
"""Stands for the end of the walk; no question has a blank id."""


class SpeculationPlanner:
    """Plans what to ask ahead over one rubric.

    Args:
        rubric: The rubric.
    """

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._meeting = _meeting_points(rubric)

    def plan(self, current: Question) -> list[Question]:
        """The questions to ask now: the current one, and those that the likely path will need.

        Args:
            current: The question that the walk is at, to be answered by the judge.

        Returns:
            The questions in the order of the likely path, the current one first; those that answer themselves are left out.
        """
        planned: dict[str, Question] = {}
        question: Question | None = current
        while question is not None and question.id not in planned:
            planned[question.id] = question
            question = self._likely_next(question)
        return [question for question in planned.values() if not question.answers_itself]

    def _likely_next(self, question: Question) -> Question | None:
        answer = _likely_answer(question)
        to = self._meeting.get(question.id) if answer is None else transition_after(self._rubric, question, answer).to
        return self._rubric.questions.get(to) if to else None


def _likely_answer(question: Question) -> str | None:
    """The answer to be expected, or None where none is likelier than another."""
    if question.answers_itself:
        return NOT_RELEVANT_ANSWER
    if question.severity is None:
        return None
    return next((option.text for option in question.options if option.text.lower() == _LIKELY), None)


def _meeting_points(rubric: Rubric) -> Mapping[str, str]:
    """For each question: the first question that every way from it to the end comes through, if there is one.

    This is the immediate post-dominator in the graph of questions. Ways that loop for ever do not count.
    """
    ways = {id_: _ways(rubric, question) for id_, question in rubric.questions.items()}
    behind: dict[str, set[str]] = {id_: set(ways) | {_EXIT} for id_ in ways} | {_EXIT: {_EXIT}}
    changed = True
    while changed:
        changed = False
        for id_, targets in ways.items():
            common = set.intersection(*(behind[target] for target in targets)) | {id_}
            if common != behind[id_]:
                behind[id_], changed = common, True
    return {id_: meeting for id_ in ways if (meeting := _first(behind, id_)) not in (None, _EXIT)}


def _ways(rubric: Rubric, question: Question) -> Sequence[str]:
    """Ids of the questions that can follow, and the end if any answer leads there."""
    following = [after.id for after in successors(rubric, question)]
    targets = (transition_after(rubric, question, option.text).to for option in question.options)
    ends = any(to is None or to not in rubric.questions for to in targets)
    return [*following, _EXIT] if ends or not following else following


def _first(behind: Mapping[str, set[str]], id_: str) -> str | None:
    """The nearest of the questions that all ways come through: the one that all others of them are behind."""
    others = behind[id_] - {id_}
    return next((other for other in others if others <= behind[other]), None)
