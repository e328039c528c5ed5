# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The rubric: a sheet of questions, each with answer options that lead on.

Reproduces upstream's `judge/rubric_config.py` (`RubricConfig._parse_rubric`, `_extract_dimensions`) at the pinned commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vera_mh.errors import RubricError
from vera_mh.sheet import Sheet, read_sheet

COLUMNS = ("Question ID", "Dimension", "Severity", "Risk Type", "Question", "Examples", "Answer", "GOTO")

NOT_RELEVANT_QUESTION = 'select "rate this dimension not relevant".'
NOT_RELEVANT_ANSWER = "Rate this dimension Not Relevant"


@dataclass(frozen=True, slots=True)
class Option:
    """One answer option, where it leads (None: to the next question), and its line of the sheet (0: it stands in none)."""

    text: str
    goto: str | None = None
    line: int = field(default=0, compare=False)


IMPLICIT_OPTIONS = (Option("Yes"), Option("No"))


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the rubric.

    Attributes:
        id: Question id, as GOTO values name it.
        dimension: Dimension, or "" if the cell is blank.
        severity: Severity of a Yes, or None.
        risk_type: Risk type, or "".
        text: The question.
        examples: Examples and definitions, or "".
        options: Answer options in sheet order.
        implicit: True if the sheet gives no option, so that it is a plain Yes or No.
        line: Line of the sheet, from 1 with the header, for messages.
    """

    id: str
    dimension: str
    severity: str | None
    risk_type: str
    text: str
    examples: str
    options: tuple[Option, ...]
    implicit: bool
    line: int

    @property
    def answers_itself(self) -> bool:
        """True for the question that only marks its dimension Not Relevant, and is never sent to the judge."""
        return self.text.strip().lower() == NOT_RELEVANT_QUESTION

    def option(self, answer: str) -> Option | None:
        """The option that equals an answer (case-insensitive), or None."""
        return next((option for option in self.options if option.text.lower() == answer.lower()), None)


@dataclass(frozen=True, slots=True)
class Rubric:
    """A parsed rubric.

    Attributes:
        questions: Question id -> question; a repeated id keeps its last row.
        order: Question ids in sheet order.
        dimensions: Distinct dimension names in sheet order.
    """

    questions: Mapping[str, Question]
    order: tuple[str, ...]
    dimensions: tuple[str, ...]

    @property
    def first(self) -> Question:
        return self.questions[self.order[0]]

    def following(self, question: Question) -> Question | None:
        """The next question in sheet order."""
        after = self.order.index(question.id) + 1
        return self.questions[self.order[after]] if after < len(self.order) else None

    def next_dimension(self, question: Question) -> Question | None:
        """The first later question whose dimension is not blank and differs."""
        for id_ in self.order[self.order.index(question.id) + 1 :]:
            later = self.questions[id_]
            if later.dimension and later.dimension != question.dimension:
                return later
        return None


def parse_rubric(text: str) -> Rubric:
    """Reads a rubric sheet.

    Args:
        text: Tab-separated text with a header row; quotes are literal.

    Raises:
        RubricError: A column is missing or there is no question.
    """
    sheet = read_rubric_sheet(text)
    questions = questions_of(sheet)
    if not questions:
        raise RubricError("the rubric has no question")
    dimensions = dict.fromkeys(cell_text(row["Dimension"]) for row in sheet.rows)
    return Rubric(
        questions={question.id: question for question in questions},
        order=tuple(question.id for question in questions),
        dimensions=tuple(name for name in dimensions if name),
    )


def read_rubric_sheet(text: str) -> Sheet:
    """The rows of a rubric as they stand.

    Raises:
        RubricError: A column is missing.
    """
    return read_sheet(text, required=COLUMNS, what="rubric")


def questions_of(sheet: Sheet) -> list[Question]:
    """Every question of a sheet in order, also those that repeat an id."""
    drafts: list[_Draft] = []
    for line, row in sheet.numbered_rows():
        cells = {column: cell_text(row[column]) for column in COLUMNS}
        if cells["Question ID"]:
            drafts.append(_Draft(line, cells, []))
        if cells["Answer"] and drafts:
            drafts[-1].options.append(Option(cells["Answer"], _whole(cells["GOTO"]) or None, line))
    return [draft.question() for draft in drafts]


@dataclass(frozen=True, slots=True)
class _Draft:
    line: int
    cells: Mapping[str, str]
    options: list[Option]

    def question(self) -> Question:
        cells = self.cells
        return Question(
            id=_whole(cells["Question ID"]),
            dimension=cells["Dimension"],
            severity=cells["Severity"] or None,
            risk_type=cells["Risk Type"],
            text=cells["Question"],
            examples=cells["Examples"],
            options=tuple(self.options) or IMPLICIT_OPTIONS,
            implicit=not self.options,
            line=self.line,
        )


def cell_text(value: str) -> str:
    """What a cell holds: stripped, and nothing where a spreadsheet program left its word for nothing."""
    stripped = value.strip()
    return "" if stripped == "nan" else stripped


def _whole(value: str) -> str:
    """An id as GOTO values name it: a spreadsheet's `7.0` is `7`."""
    head, dot, tail = value.partition(".")
    return head if dot and head.isdecimal() and tail.strip("0") == "" else value
