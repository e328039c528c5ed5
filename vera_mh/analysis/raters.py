# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Raters and what they rated: clinicians from a sheet, judges from the rows of a run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from vera_mh.errors import RatingsError, RowError
from vera_mh.exchange.upstream_names import conversation_name
from vera_mh.metrics import check_row
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT, UNRATED
from vera_mh.transcript import sha256

CATEGORIES = (BEST_PRACTICE, NEUTRAL, HIGH_HARM, NOT_RELEVANT)
"""The ratings; all but the last are in order of severity."""

_CONVERSATION = ("conversation", "filename", "conversation_id", "id")
_LONG = ("dimension", "rating")
_RATER = "rater"
_JUDGE = ("judge_model", "judge_instance")
_NOT_DIMENSIONS = (*_CONVERSATION, *_JUDGE, _RATER, "run_id", "judge_id", "persona_name", "risk_level")
_OF_A_DIMENSION = ("_yes_question_id", "_yes_reasoning")
_BY_FOLDED = {rating.casefold(): rating for rating in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Rater:
    """One rater.

    Attributes:
        name: What the rater is called.
        ratings: Conversation -> dimension -> rating; what was not rated is not there.
        transcripts: Conversation -> digest of its text, where that is known.
        names: Conversation -> how a file of it is called, by which a sheet may name it; two may be called the same.
        unread: Columns of a sheet that hold no rating.
    """

    name: str
    ratings: Mapping[str, Mapping[str, str]]
    transcripts: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def rater_of_rows(rows: Iterable[Mapping[str, Any]], name: str) -> Rater:
    """The judge of a run as a rater.

    Args:
        rows: The rollouts of the run; failed ones count nowhere.
        name: What to call the judge.

    Raises:
        RatingsError: A row has no ratings, or a conversation stands twice.
    """
    ratings: dict[str, dict[str, str]] = {}
    transcripts: dict[str, str] = {}
    names: dict[str, str] = {}
    for line, row in enumerate(rows, start=1):
        if row.get("_ng_failure_class"):
            continue
        try:
            check_row("row", row)
        except RowError as error:
            raise RatingsError(str(error), line=line, mend="give rollouts that are judged") from None
        repeat = int(row.get("_ng_rollout_index") or 0)
        conversation = f"{row.get('id', '')}/run{repeat + 1}" if repeat else str(row.get("id", ""))
        if conversation in ratings:
            raise RatingsError(f"the conversation {conversation!r} stands twice", line=line)
        ratings[conversation] = {dimension: rating for dimension, rating in row["ratings"].items() if rating != UNRATED}
        names[conversation] = conversation_name(row)
        transcript = row.get("transcript")
        if isinstance(transcript, str) and transcript:
            transcripts[conversation] = sha256(transcript)
    return Rater(name, ratings, transcripts, names)


def raters_of_sheet(text: str, name: str) -> list[Rater]:
    """The raters of a sheet: comma-, semicolon- or tab-separated, with a header.

    A line is either one rating (columns `conversation`, `dimension`, `rating`) or one conversation (a column for each dimension,
    as upstream's `results.csv`). A column `rater` tells several raters of one sheet apart; else upstream's `judge_model` and
    `judge_instance` do, if they differ.

    Args:
        text: The sheet.
        name: What to call the rater; several get what tells them apart behind it.

    Raises:
        RatingsError: A column is missing, a value is no rating, or a rating stands twice.
    """
    header, lines = _table(text)
    place = next((header.index(column) for column in _CONVERSATION if column in header), None)
    if place is None:
        raise RatingsError("no column says which conversation is rated", line=1, mend=f"name one {' or '.join(_CONVERSATION)}")
    columns = tuple(header.index(column) for column in _LONG) if set(_LONG) <= set(header) else None
    dimensions = {} if columns else _dimensions(header, lines)
    told_apart = _told_apart(header, lines)
    found: dict[str, dict[str, dict[str, str]]] = {}
    for line, cells in lines:
        rater = " ".join(cells[column] for column in told_apart)
        conversation = _conversation(cells[place])
        if not conversation:
            raise RatingsError("a line does not say which conversation it is of", line=line)
        given = {cells[columns[0]]: cells[columns[1]]} if columns else {name: cells[at] for name, at in dimensions.items()}
        rated = found.setdefault(rater, {}).setdefault(conversation, {})
        _take(rated, given, conversation, line)
    unread = () if columns else _unread(header, dimensions, lines)
    several = len(found) > 1
    return [Rater(f"{name}/{rater}" if several else name, ratings, unread=unread) for rater, ratings in found.items()]


def _table(text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header, and each line with its number; as many cells as the header, blanks around them cut off."""
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise RatingsError(f"the sheet cannot be read: {error}", line=reader.line_num) from None
    rows = [(line, cells) for line, cells in rows if any(cells)]
    if len(rows) < 2:
        raise RatingsError("the sheet has no ratings: it needs a header and a line for each rating or conversation")
    header = [cell.lower() if cell.lower() in (*_NOT_DIMENSIONS, *_LONG) else cell for cell in rows[0][1]]
    for line, cells in rows[1:]:
        if len(cells) > len(header):
            raise RatingsError(f"a line has {len(cells)} cells, and the header has {len(header)}", line=line)
        cells += [""] * (len(header) - len(cells))
    return header, rows[1:]


def _dimensions(header: Sequence[str], lines: Sequence[tuple[int, list[str]]]) -> dict[str, int]:
    """The columns of a wide sheet that hold ratings; one in which no cell is a rating is none."""
    found = {
        name: at
        for at, name in enumerate(header)
        if name not in _NOT_DIMENSIONS
        and not name.endswith(_OF_A_DIMENSION)
        and any(cells[at].casefold() in _BY_FOLDED for _, cells in lines)
    }
    if not found:
        raise RatingsError(
            "no column holds ratings",
            line=1,
            mend=f"name the columns conversation, dimension, rating; known: {', '.join(CATEGORIES)}",
        )
    return found


def _unread(header: Sequence[str], dimensions: Mapping[str, int], lines: Sequence[tuple[int, list[str]]]) -> tuple[str, ...]:
    return tuple(
        name
        for at, name in enumerate(header)
        if name not in (*_NOT_DIMENSIONS, *dimensions)
        and not name.endswith(_OF_A_DIMENSION)
        and any(cells[at] for _, cells in lines)
    )


def _told_apart(header: Sequence[str], lines: Sequence[tuple[int, list[str]]]) -> list[int]:
    """Columns that tell the raters of one sheet apart."""
    if _RATER in header:
        return [header.index(_RATER)]
    columns = [header.index(column) for column in _JUDGE if column in header]
    return columns if len({tuple(cells[column] for column in columns) for _, cells in lines}) > 1 else []


def _conversation(cell: str) -> str:
    """A conversation as it is called in a run: without a folder and an ending, if it is the name of a file."""
    for ending in (".txt", ".json"):
        if cell.endswith(ending):
            return PurePath(cell.replace("\\", "/")).name.removesuffix(ending)
    return cell


def _take(rated: dict[str, str], given: Mapping[str, str], conversation: str, line: int) -> None:
    for dimension, cell in given.items():
        if not cell:
            continue
        rating = _BY_FOLDED.get(cell.casefold())
        if rating is None:
            raise RatingsError(
                f"{cell!r} is no rating of {dimension!r}", line=line, mend=f"known: {', '.join(CATEGORIES)}; or leave it empty"
            )
        if dimension in rated:
            raise RatingsError(
                f"{dimension!r} of the conversation {conversation!r} is rated twice by one rater",
                line=line,
                mend="tell the raters apart in a column `rater`",
            )
        rated[dimension] = rating
