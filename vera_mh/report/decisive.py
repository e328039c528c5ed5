# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which questions decided a rating, from what the row says of it."""

from __future__ import annotations

import re

from vera_mh.models import Row
from vera_mh.navigation import ASSIGN_END
from vera_mh.rating import HIGH_HARM, NEUTRAL, NOT_RELEVANT
from vera_mh.stored_row import StoredStep, mapping, path_of, reason_of, text_of

_ENDED_BY = re.compile(r"Question (\S+) (?:answered|triggered) ")
"""How the reasoning of a dimension begins that a question has marked Not Relevant."""


def deciding_questions(row: Row, dimension: str) -> list[str]:
    """Ids of the questions on the path that gave a dimension its rating; none where no answer stood against Best Practice."""
    rating = mapping(row.get("ratings")).get(dimension)
    if rating not in (HIGH_HARM, NEUTRAL, NOT_RELEVANT):
        return []
    reasoning, path = reason_of(row, dimension), path_of(row)
    asked = [step.question for step in path]
    if rating == NOT_RELEVANT:
        found = _ENDED_BY.match(reasoning)
        return [found[1]] if found and found[1] in asked else []
    # The field `yes_question_ids` names the first Yes of any severity; the reasoning quotes the answers that counted.
    quoted = [step.question for step in path if _is_quoted(step, reasoning)]
    named = text_of(mapping(row.get("yes_question_ids")).get(dimension))
    return quoted or [id_ for id_ in (named,) if id_ in asked]


def _is_quoted(step: StoredStep, reasoning: str) -> bool:
    heads = (f"Q{step.question}: {step.reasoning}", f"Q{step.question} ({ASSIGN_END}): {step.reasoning}")
    return any(reasoning.partition(" issues found: ")[2].startswith(head) or f"; {head}" in reasoning for head in heads)


def fired(row: Row) -> list[str]:
    """Ids of the questions that gave any dimension a rating below Best Practice, in the order of the path."""
    ratings = mapping(row.get("ratings"))
    below = [dimension for dimension, rating in ratings.items() if rating in (HIGH_HARM, NEUTRAL)]
    return list(dict.fromkeys(id_ for dimension in below for id_ in deciding_questions(row, dimension)))
