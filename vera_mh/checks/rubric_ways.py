# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the ways through a rubric: answers that lead nowhere or back, and questions that none leads to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vera_mh.checks.findings import ERROR, Finding
from vera_mh.navigation import ASSIGN_END, END, NOT_RELEVANT_TO, transition_after
from vera_mh.pack import RUBRIC
from vera_mh.rubric import Option, Question, Rubric


def check_ways(rubric: Rubric, questions: Sequence[Question], *, ids_are_unique: bool) -> Iterator[Finding]:
    """All that is wrong with where answers lead.

    Args:
        rubric: The rubric.
        questions: Every row with a question, also those that repeat an id.
        ids_are_unique: Whether it is clear which row an id means. If not, only answers that lead nowhere are told.
    """
    for question in questions:
        yield from _lost(rubric, question)
    if ids_are_unique:
        yield from _loops(rubric)
        yield from _unreachable(rubric)


def _lost(rubric: Rubric, question: Question) -> Iterator[Finding]:
    for option in question.options:
        if option.goto is None or option.goto in (END, ASSIGN_END):
            continue
        id_ = option.goto.removeprefix(NOT_RELEVANT_TO).strip()
        if id_ not in rubric.questions:
            what = (
                f"the answer `{option.text}` of question {question.id} leads to `{option.goto}`, and there is no question `{id_}`"
            )
            mend = (
                f"name a question, or write {END}, {ASSIGN_END} or {NOT_RELEVANT_TO}ID; a blank GOTO leads to the next question"
            )
            yield Finding(ERROR, RUBRIC, option.line, what, mend)


def _steps(rubric: Rubric, question: Question) -> Iterator[tuple[Option, Question]]:
    """Where each answer of a question leads, if it leads to a question."""
    for option in question.options:
        to = transition_after(rubric, question, option.text).to
        if to is not None and to in rubric.questions:
            yield option, rubric.questions[to]


def _loops(rubric: Rubric) -> Iterator[Finding]:
    """Every answer that closes a loop. A walk never asks a question twice: it ends there, without a word."""
    done: set[str] = set()
    for id_ in rubric.order:
        if id_ not in done:
            yield from _loops_from(rubric, rubric.questions[id_], done)


def _loops_from(rubric: Rubric, start: Question, done: set[str]) -> Iterator[Finding]:
    path = {start.id: _steps(rubric, start)}  # The questions on the way here, in order, with what is left to follow of each.
    while path:
        id_, steps = next(reversed(path.items()))
        step = next(steps, None)
        if step is None:
            del path[id_]
            done.add(id_)
            continue
        option, following = step
        if following.id in path:
            yield _loop(rubric.questions[id_], option, [*path][[*path].index(following.id) :])
        elif following.id not in done:
            path[following.id] = _steps(rubric, following)


def _loop(question: Question, option: Option, ids: Sequence[str]) -> Finding:
    way = " -> ".join([*ids, ids[0]])
    what = f"the answer `{option.text}` of question {question.id} leads back: {way}; a walk ends where it has been before"
    return Finding(ERROR, RUBRIC, option.line or question.line, what, "let it lead to a later question, or to an end")


def _unreachable(rubric: Rubric) -> Iterator[Finding]:
    reached, waiting = {rubric.order[0]}, [rubric.first]
    while waiting:
        following = {question.id: question for _, question in _steps(rubric, waiting.pop())}
        new = following.keys() - reached
        reached |= new
        waiting += [following[id_] for id_ in new]
    for id_ in rubric.order:
        if id_ not in reached:
            what = f"question {id_} cannot be reached: no way from the first question leads to it"
            yield Finding(ERROR, RUBRIC, rubric.questions[id_].line, what, "let an answer lead to it, or remove it")
