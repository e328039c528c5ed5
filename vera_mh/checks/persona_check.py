# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a persona sheet and the prompt that is made from it, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Formatter

from vera_mh.checks.findings import ERROR, WARNING, Finding, in_order
from vera_mh.checks.sheet_check import check_sheet
from vera_mh.errors import RubricError
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS
from vera_mh.persona import DISCLOSURE, NAME, RISK_LEVEL, fill
from vera_mh.score import RISK_LEVELS
from vera_mh.sheet import Sheet, read_sheet

REQUIRED = (NAME, RISK_LEVEL, DISCLOSURE)


def check_personas(text: str, template: str) -> list[Finding]:
    """All that is wrong with a persona sheet and its template.

    Args:
        text: The sheet, as `vera_mh.persona.read_personas` takes it.
        template: The template of the persona's system prompt.
    """
    try:
        sheet = read_sheet(text, required=REQUIRED, what="persona")
    except RubricError as error:
        return [Finding(ERROR, PERSONAS, 1, str(error), f"a persona sheet has the columns {', '.join(REQUIRED)}")]
    if not sheet.rows:
        return [Finding(ERROR, PERSONAS, 1, "the sheet has no persona", "write one a row below the header")]
    used, wrong = _template(template, sheet.columns)
    found = [*check_sheet(text, read=[*REQUIRED, *used], file=PERSONAS), *wrong, *_names(sheet), *_cells(sheet, used)]
    return in_order(found)


def _template(template: str, columns: Sequence[str]) -> tuple[list[str], list[Finding]]:
    """The columns that a template uses, and what is wrong with it."""
    try:
        fill(template, dict.fromkeys(columns, ""))
    except RubricError as error:
        mend = "put the name of a column between braces, and double a brace that is only text"
        return [], [Finding(ERROR, PERSONA_TEMPLATE, None, str(error), mend)]
    used = list(dict.fromkeys(name for _, name, _, _ in Formatter().parse(template) if name and name in columns))
    if used:
        return used, []
    what = "the template uses no column of the sheet, so every persona has the same prompt"
    return used, [Finding(ERROR, PERSONA_TEMPLATE, None, what, "name columns between braces, such as {Background}")]


def _names(sheet: Sheet) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for row, cells in sheet.numbered_rows():
        name = cells[NAME]
        if name.strip() and name in first:
            what = f"a persona of the name {name} stands in row {first[name]} too, and rows are named after their personas"
            yield Finding(ERROR, PERSONAS, row, what, "give each persona a name of its own")
        first.setdefault(name, row)


def _cells(sheet: Sheet, used: Sequence[str]) -> Iterator[Finding]:
    for row, cells in sheet.numbered_rows():
        for column in REQUIRED:
            if not cells[column].strip():
                yield Finding(ERROR, PERSONAS, row, f"the column {column} is empty", "fill it in")
        blank = [column for column in used if column not in REQUIRED and not cells[column].strip()]
        if blank:
            what = f"the persona's prompt has nothing in the place of {', '.join(blank)}"
            yield Finding(WARNING, PERSONAS, row, what, "fill it in, if only with a word that says there is none")
        level = cells[RISK_LEVEL]
        if level.strip() and level not in RISK_LEVELS:
            what = f"the risk level `{level}` is none of {', '.join(RISK_LEVELS)}, so the tables have it last"
            yield Finding(WARNING, PERSONAS, row, what, f"write one of them into {RISK_LEVEL}, if it is meant")
