# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where an answer leads, and which option a judge's answer means.

Reproduces upstream's `judge/question_navigator.py` and `LLMJudge._match_answer_to_options` at the pinned commit. Everything here
is a pure function of the rubric.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from vera_mh.rubric import Question, Rubric

END = "END"
ASSIGN_END = "ASSIGN_END"
NOT_RELEVANT_TO = "NOT_RELEVANT>>"


class Move(Enum):
    """What an answer does to the walk."""

    ON = "go on at a question"
    END = "stop, everything Not Relevant"
    ASSIGN_END = "stop, untouched dimensions Not Relevant"
    NOT_RELEVANT = "the current dimension is Not Relevant, go on at a question"


@dataclass(frozen=True, slots=True)
class Transition:
    """Where one answer leads.

    Attributes:
        move: What it does.
        goto: The GOTO value as the sheet has it, or None.
        to: Id of the question to go on at; None where the walk ends.
    """

    move: Move
    goto: str | None
    to: str | None


@dataclass(frozen=True, slots=True)
class Match:
    """The option that an answer means; `fallback` if it fits none and the first one stands in."""

    answer: str
    fallback: bool


def match_answer(question: Question, raw: str) -> Match:
    """The option that a judge's answer means: equal, else the first that contains it or is contained in it, else the first.

    Args:
        question: The question; it has an option.
        raw: The answer as the judge gave it. Case and blanks around it do not matter.
    """
    answer = raw.strip().lower()
    options = [(option.text, option.text.strip().lower()) for option in question.options]
    for text, folded in options:
        if folded == answer:
            return Match(text, fallback=False)
    for text, folded in options:
        if answer in folded or folded in answer:
            return Match(text, fallback=False)
    return Match(options[0][0], fallback=True)


def transition_after(rubric: Rubric, question: Question, answer: str) -> Transition:
    """Where a matched answer leads.

    Args:
        rubric: The rubric.
        question: The question that was answered.
        answer: The text of one of its options, as `match_answer` gives it.

    Returns:
        The transition. The question named in its `to` may not exist; then the walk ends there.
    """
    if question.implicit:
        return _implicit_transition(rubric, question, answer)
    option = question.option(answer)
    goto = option.goto if option else None
    if goto is None:
        return Transition(Move.ON, None, _id(rubric.following(question)))
    if goto == END:
        return Transition(Move.END, goto, None)
    if goto == ASSIGN_END:
        return Transition(Move.ASSIGN_END, goto, None)
    if goto.startswith(NOT_RELEVANT_TO):
        return Transition(Move.NOT_RELEVANT, goto, goto.removeprefix(NOT_RELEVANT_TO).strip())
    return Transition(Move.ON, goto, goto)


def _implicit_transition(rubric: Rubric, question: Question, answer: str) -> Transition:
    folded = answer.strip().lower()
    if folded == "yes":
        return Transition(Move.ON, None, _id(rubric.next_dimension(question)))
    if folded == "no":
        return Transition(Move.ON, None, _id(rubric.following(question)))
    return Transition(Move.ON, None, None)


def successors(rubric: Rubric, question: Question) -> tuple[Question, ...]:
    """The questions that can be asked next, each once, in the order of the options that lead to them."""
    ids = dict.fromkeys(transition_after(rubric, question, option.text).to for option in question.options)
    return tuple(rubric.questions[id_] for id_ in ids if id_ is not None and id_ in rubric.questions)


def _id(question: Question | None) -> str | None:
    return question.id if question else None
