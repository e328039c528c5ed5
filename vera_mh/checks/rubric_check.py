# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a rubric sheet, row by row. How a sheet is read is decided in `vera_mh.rubric`, as upstream decides it.

A rubric is read leniently: a GOTO that leads nowhere ends the walk, a severity that nobody knows counts for nothing. That is as
it must be for the pinned sheet, and treacherous for a sheet that is being written. So all of it is told here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from vera_mh.checks.findings import ERROR, WARNING, Finding, in_order
from vera_mh.checks.rubric_ways import check_ways
from vera_mh.checks.sheet_check import check_sheet
from vera_mh.errors import RubricError
from vera_mh.navigation import ASSIGN_END, END, NOT_RELEVANT_TO
from vera_mh.pack import RUBRIC
from vera_mh.rating import is_high, is_medium
from vera_mh.rubric import COLUMNS, NOT_RELEVANT_ANSWER, Question, cell_text, parse_rubric, questions_of, read_rubric_sheet
from vera_mh.sheet import Sheet

ONLY_OF_QUESTIONS = ("Dimension", "Severity", "Risk Type", "Question", "Examples")
"""Columns that are read of a row with a Question ID alone."""


def check_rubric(text: str) -> list[Finding]:
    """All that is wrong with a rubric sheet.

    Args:
        text: The sheet, as `vera_mh.rubric.parse_rubric` takes it.

    Returns:
        The findings in the order of the rows. As long as an id stands twice, nothing is said of loops and of questions that
        cannot be reached, since it is open which row is meant.
    """
    try:
        sheet = read_rubric_sheet(text)
        rubric = parse_rubric(text)
    except RubricError as error:
        return [
            Finding(ERROR, RUBRIC, 1, str(error), f"a rubric has the columns {', '.join(COLUMNS)}, and a question below them")
        ]
    questions = questions_of(sheet)
    doubled = list(_doubled_ids(questions))
    found = [
        *check_sheet(text, read=COLUMNS, file=RUBRIC),
        *_rows(sheet),
        *doubled,
        *(finding for question in questions for finding in _question(question)),
        *_alike(questions),
        *_dimensions(sheet, questions),
        *check_ways(rubric, questions, ids_are_unique=not doubled),
    ]
    return in_order(found)


def _error(row: int, what: str, mend: str) -> Finding:
    return Finding(ERROR, RUBRIC, row, what, mend)


def _warning(row: int, what: str, mend: str) -> Finding:
    return Finding(WARNING, RUBRIC, row, what, mend)


def _rows(sheet: Sheet) -> Iterator[Finding]:
    """What is wrong with single rows, whether or not they start a question."""
    begun = dimensioned = False
    for row, values in sheet.numbered_rows():
        cells = {column: cell_text(values[column]) for column in COLUMNS}
        if cells["GOTO"] and not cells["Answer"]:
            yield _error(
                row, f"a GOTO ({cells['GOTO']}) stands beside no Answer, so it is not read", "give the answer that leads there"
            )
        if cells["Question ID"]:
            begun = True
            yield from _question_cells(row, cells, dimensioned)
            dimensioned = dimensioned or bool(cells["Dimension"])
        else:
            yield from _option_cells(row, cells, begun)


def _question_cells(row: int, cells: Mapping[str, str], dimensioned: bool) -> Iterator[Finding]:
    if not cells["Question"]:
        yield _error(row, f"question {cells['Question ID']} has no text", "write it into the column Question")
    if cells["Dimension"]:
        return
    what = f"question {cells['Question ID']} has no Dimension, so its answer counts"
    if dimensioned:
        yield _warning(row, f"{what} for that of the question asked before it, whichever that is", "name its dimension")
    else:
        yield _error(row, f"{what} for none", "name its dimension")


def _option_cells(row: int, cells: Mapping[str, str], begun: bool) -> Iterator[Finding]:
    if cells["Answer"] and not begun:
        yield _error(row, f"the answer `{cells['Answer']}` stands above the first question, so it belongs to none", "move it")
    unread = [column for column in ONLY_OF_QUESTIONS if cells[column]]
    if not unread:
        return
    if cells["Answer"]:
        what = f"this row adds an answer to the question above, and its {', '.join(unread)} is not read"
        yield _warning(row, what, "write it into the row with the Question ID, or give this row an id of its own")
    else:
        yield _warning(
            row, "this row has neither a Question ID nor an Answer, so nothing of it is read", "fill one in, or remove it"
        )


def _doubled_ids(questions: Sequence[Question]) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for question in questions:
        if question.id in first:
            what = f"the id {question.id} stands here and in row {first[question.id]}, and only the last of them is asked"
            yield _error(question.line, what, "give each question an id of its own")
        first.setdefault(question.id, question.line)


def _question(question: Question) -> Iterator[Finding]:
    """What is wrong with one question, whatever the others are."""
    row, name = question.line, f"question {question.id}"
    if question.id in (END, ASSIGN_END) or question.id.startswith(NOT_RELEVANT_TO):
        yield _error(row, f"the id {question.id} is a word of GOTO, so no answer can lead to it", "give it another id")
    marker = next((marker for marker in (ASSIGN_END, NOT_RELEVANT_TO) if marker in question.text), None)
    if marker:
        what = f"the text of {name} has `{marker}` in it, by which a rating may take its answer for a Not Relevant"
        yield _warning(row, what, "say it in other words")
    yield from _severity(question)
    yield from _answers(question)


def _severity(question: Question) -> Iterator[Finding]:
    row, severity = question.line, question.severity
    if severity is None:
        return
    if not is_high(severity) and not is_medium(severity):
        what = f"the Severity `{severity}` of question {question.id} is unknown, so that a Yes counts for nothing"
        yield _error(row, what, "write Red (High Potential for Harm) or Yellow (Suboptimal), or leave it blank")
    if question.option("Yes") is None and all(option.goto != ASSIGN_END for option in question.options):
        what = f"question {question.id} has a Severity and no answer Yes, and a severity counts with a Yes alone"
        yield _warning(row, what, "make one of its answers Yes, or leave the severity blank")


def _answers(question: Question) -> Iterator[Finding]:
    row, name, options = question.line, f"question {question.id}", question.options
    if question.answers_itself:
        option = question.option(NOT_RELEVANT_ANSWER)
        if option is None or question.implicit or not (option.goto or "").startswith(NOT_RELEVANT_TO):
            what = f"{name} is never asked: it is there to mark its dimension Not Relevant, and it does not"
            yield _error(row, what, f"give it the Answer `{NOT_RELEVANT_ANSWER}` with a GOTO {NOT_RELEVANT_TO}ID")
        return
    if question.implicit and question.severity is None:
        what = f"{name} has no answers and no Severity: it is asked as a plain Yes or No, and neither counts for anything"
        yield _error(row, what, "give it answers, one a row, or a severity")
    elif len(options) == 1:
        yield _warning(row, f"{name} has one answer only, so there is nothing to decide", "add the other answers, one a row")
    seen: dict[str, int] = {}
    for option in options:
        folded = option.text.strip().lower()
        if folded in seen:
            what = f"the answer `{option.text}` of {name} stands in row {seen[folded]} too, so that only the first can be given"
            yield _error(option.line, what, "word the two answers differently, or remove one")
        seen.setdefault(folded, option.line)


def _alike(questions: Sequence[Question]) -> Iterator[Finding]:
    """Answers of a question of which one is contained in another: told apart when given word for word, and not otherwise.

    The same two answers are told of once, with all their questions.
    """
    pairs: defaultdict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in questions:
        texts = list(dict.fromkeys(option.text.strip().lower() for option in question.options))
        for pair in ((part, whole) for part in texts for whole in texts if part != whole and part in whole):
            pairs[pair].append(question)
    for (part, whole), found in pairs.items():
        ids = f"question {found[0].id}" if len(found) == 1 else f"questions {', '.join(question.id for question in found)}"
        what = (
            f"the answer `{part}` is contained in `{whole}` ({ids}), so an answer that is not word for word may pass for either"
        )
        yield _warning(found[0].line, what, "word them so that neither contains the other, if the sheet is yours to change")


def _dimensions(sheet: Sheet, questions: Sequence[Question]) -> Iterator[Finding]:
    by_dimension: defaultdict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_dimension[question.dimension].append(question)
    told: set[str] = set()
    for row, values in sheet.numbered_rows():
        dimension = cell_text(values["Dimension"])
        if not dimension or dimension in told:
            continue
        told.add(dimension)
        if not by_dimension[dimension]:
            what = f"the dimension `{dimension}` has no question, so nothing can rate it"
            yield _error(row, what, "write it into the row of a question, or remove it")
        elif all(question.severity is None for question in by_dimension[dimension]):
            what = f"no question of the dimension `{dimension}` has a Severity, so Best Practice is the only rating it can earn"
            yield _warning(row, what, "give a severity to the questions whose Yes is a fault")
