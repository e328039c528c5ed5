# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One walk over the rubric: which question is open, what the answers so far mean, and what the ratings are.

The walk asks nobody. It is told an answer and moves on, so that any way of asking (one by one, ahead, from a recording) comes to
the same verdict. Reproduces the flow of upstream's `LLMJudge._ask_all_questions` at the pinned commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vera_mh.navigation import ASSIGN_END, NOT_RELEVANT_TO, Match, Move, Transition, match_answer, transition_after
from vera_mh.rating import NOT_RELEVANT, DimensionRating, StoredAnswer, rate_dimension
from vera_mh.rubric import NOT_RELEVANT_ANSWER, Question, Rubric

SPECIAL_CASE = "Special case"


@dataclass(frozen=True, slots=True)
class Step:
    """One answered question of a walk.

    Attributes:
        question: The question.
        answer: The matched answer.
        raw_answer: The answer as the judge gave it.
        fallback: True if it fitted no option.
        reasoning: The judge's reasoning.
        transition: Where the answer led.
        next_question: The question asked next, or None where the walk ended.
        special_case: True if the question answered itself.
    """

    question: Question
    answer: str
    raw_answer: str
    fallback: bool
    reasoning: str
    transition: Transition
    next_question: Question | None
    special_case: bool


@dataclass(slots=True)
class Walk:
    """A walk in progress.

    Attributes:
        rubric: The rubric.
        current: The question to be answered now; None when the walk has ended.
        steps: What was answered so far.
    """

    rubric: Rubric
    current: Question | None = None
    steps: list[Step] = field(default_factory=list)
    _stored: dict[str, list[StoredAnswer]] = field(default_factory=dict)
    _visited: set[str] = field(default_factory=set)
    _dimension: str = ""
    _ended_at: str | None = None

    def __post_init__(self) -> None:
        self._go_to(self.rubric.order[0])

    def answer(self, raw: str, reasoning: str) -> Step:
        """Takes the judge's answer to the current question and moves on.

        Args:
            raw: The answer as given.
            reasoning: The judge's reasoning.

        Raises:
            ValueError: The walk has ended.
        """
        question = self._open_question()
        return self._take(question, match_answer(question, raw), raw, reasoning)

    def answer_itself(self) -> Step:
        """Answers a current question that needs no judge (`Question.answers_itself`) and moves on.

        Raises:
            ValueError: The walk has ended.
        """
        match = Match(NOT_RELEVANT_ANSWER, fallback=False)
        return self._take(self._open_question(), match, NOT_RELEVANT_ANSWER, SPECIAL_CASE, special_case=True)

    def _open_question(self) -> Question:
        if self.current is None:
            raise ValueError("the walk has ended: there is no question to answer")
        return self.current

    def _take(self, question: Question, match: Match, raw: str, reasoning: str, special_case: bool = False) -> Step:
        self._store(question, match.answer, reasoning)
        transition = transition_after(self.rubric, question, match.answer)
        self._apply(transition, question, match.answer)
        self._go_to(transition.to)
        step = Step(question, match.answer, raw, match.fallback, reasoning, transition, self.current, special_case)
        self.steps.append(step)
        return step

    def _go_to(self, id_: str | None) -> None:
        """Opens a question; a visited or unknown id ends the walk."""
        self.current = self.rubric.questions.get(id_) if id_ is not None and id_ not in self._visited else None
        if self.current is not None:
            self._visited.add(self.current.id)

    def _store(self, question: Question, answer: str, reasoning: str) -> None:
        self._dimension = question.dimension or self._dimension
        if self._dimension:
            stored = StoredAnswer(question.id, question.text, answer, question.severity, reasoning)
            self._stored.setdefault(self._dimension, []).append(stored)

    def _apply(self, transition: Transition, question: Question, answer: str) -> None:
        if transition.move in (Move.END, Move.ASSIGN_END):
            self._ended_at = question.id
        if transition.move is Move.ASSIGN_END:
            for dimension in self.rubric.dimensions:
                if dimension != self._dimension and not self._stored.get(dimension):
                    self._stored[dimension] = [_marker(ASSIGN_END, question, answer)]
        elif transition.move is Move.NOT_RELEVANT and self._dimension:
            self._stored[self._dimension] = [_marker(NOT_RELEVANT_TO, question, answer)]

    def ratings(self) -> Mapping[str, DimensionRating]:
        """Rating of every dimension that was visited or marked.

        After `END`, and after an `ASSIGN_END` that found no other dimension to mark, all dimensions are Not Relevant; upstream
        tells the two apart only by the marker text, so that a reasoning which mentions `ASSIGN_END` also has the answers rated.
        """
        if self._ended_at is not None and not self._mentions_assign_end():
            reasoning = f"Question {self._ended_at} triggered early stopping - all dimensions are Not Relevant per rubric rules."
            return {dimension: DimensionRating(NOT_RELEVANT, reasoning) for dimension in self.rubric.dimensions}
        return {dimension: rate_dimension(self.rubric, answers) for dimension, answers in self._stored.items()}

    def _mentions_assign_end(self) -> bool:
        return any(answer.mentions(ASSIGN_END) for answers in self._stored.values() for answer in answers)


def _marker(goto: str, question: Question, answer: str) -> StoredAnswer:
    return StoredAnswer(
        question_id=question.id,
        question=f"Marked Not Relevant due to {goto} at Question {question.id}",
        answer=NOT_RELEVANT,
        severity=None,
        reasoning=f"Question {question.id} answered '{answer}' triggered {goto} - dimension marked Not Relevant",
    )
