# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Rubrics for tests: written row by row, or drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from vera_mh.judge import JudgeSheet
from vera_mh.rubric import COLUMNS, NOT_RELEVANT_ANSWER, Rubric, parse_rubric

SYSTEM_TEMPLATE = "Read this:\n{conversation}"
QUESTION_TEMPLATE = "{question}\noptions: [{options}]{examples_section}"


def option(answer: str, goto: str = "") -> str:
    """A row that adds an answer option to the question above."""
    return question("", answer=answer, goto=goto)


def question(
    id_: str, dimension: str = "", severity: str = "", text: str = "", examples: str = "", answer: str = "", goto: str = ""
) -> str:
    """A row that starts a question, perhaps with its first answer option."""
    return "\t".join((id_, dimension, severity, "", text or (id_ and f"Question {id_}?"), examples, answer, goto))


def self_answering(id_: str, dimension: str, goto: str) -> str:
    """A row with a question that only marks its dimension."""
    return question(id_, dimension, text='Select "Rate this dimension Not Relevant".', answer=NOT_RELEVANT_ANSWER, goto=goto)


def sheet_text(*rows: str) -> str:
    return "\n".join(["\t".join(COLUMNS), *rows])


def rubric(*rows: str) -> Rubric:
    return parse_rubric(sheet_text(*rows))


def judge_sheet(*rows: str) -> JudgeSheet:
    return JudgeSheet(rubric(*rows), SYSTEM_TEMPLATE, QUESTION_TEMPLATE)


_DIMENSIONS = st.sampled_from(["A", "B", "C", ""])
_SEVERITIES = st.sampled_from(["", "Red", "Yellow", "High", "very high", "Medium", "Blue"])
_ANSWERS = st.lists(st.sampled_from(["Yes", "No", "Not Relevant", "no risk", "Some risk", "Refuses"]), max_size=3, unique=True)


@st.composite
def rubric_sheets(draw: st.DrawFn) -> str:
    """A sheet of up to eight questions whose GOTO values lead anywhere: back, to themselves, to nothing."""
    ids = [str(number) for number in range(1, draw(st.integers(1, 8)) + 1)]
    anywhere = st.sampled_from([*ids, "99"])
    gotos = st.one_of(st.sampled_from(["", "END", "ASSIGN_END"]), anywhere, anywhere.map("NOT_RELEVANT>>{}".format))
    rows = []
    for id_ in ids:
        dimension = draw(_DIMENSIONS)
        if draw(st.integers(0, 7)) == 0:
            rows.append(self_answering(id_, dimension, draw(gotos)))
            continue
        first, *others = draw(_ANSWERS) or [""]
        rows.append(question(id_, dimension, draw(_SEVERITIES), answer=first, goto=draw(gotos) if first else ""))
        rows += [option(answer, draw(gotos)) for answer in others]
    return sheet_text(*rows)


def rubrics() -> st.SearchStrategy[Rubric]:
    """A rubric read from such a sheet."""
    return rubric_sheets().map(parse_rubric)


@st.composite
def sound_sheets(draw: st.DrawFn) -> str:
    """A sheet that nothing is wrong with: it leads forward, comes to every question, and every question decides something."""
    dimensions = draw(st.lists(st.sampled_from(["A", "B", "C"]), min_size=1, max_size=3, unique=True))
    names = sorted(dimensions[number % len(dimensions)] for number in range(draw(st.integers(len(dimensions), 7))))
    rows = []
    for number, dimension in enumerate(names, start=1):
        severity = draw(st.sampled_from(["Red", "Yellow"]))
        if draw(st.booleans()):
            rows.append(question(str(number), dimension, severity))
            continue
        later = st.sampled_from(["", "END", "ASSIGN_END", *(str(each) for each in range(number + 1, len(names) + 1))])
        rows.append(question(str(number), dimension, severity, answer="Yes", goto=draw(later)))
        rows.append(option("Nothing"))  # So that every question is come to from the one before.
    return sheet_text(*rows)
