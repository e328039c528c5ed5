# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One conversation as a person reads it: who talked, what was said, how it was rated, and the judge's way to that.

All is plain data, for whoever shows it: a terminal, a log, a page.
"""

from __future__ import annotations

from collections.abc import Mapping

from vera_mh.metrics import RATINGS
from vera_mh.models import Json, Row
from vera_mh.rating import HIGH_HARM
from vera_mh.score import conversation_score
from vera_mh.stored_row import StoredStep, StoredTurn, mapping, models_of, path_of, reason_of, text_of, turns_of
from vera_mh.turns import PERSONA, PROVIDER
from vera_mh.views.summary import Table

LISTED = ("Persona", "User simulator", "Repeat", "Risk level", "Score", "High harm in", "Turns")
"""The columns of a list of conversations."""

SPEAKERS: Mapping[str, str] = {PERSONA: "user", PROVIDER: "chatbot"}


_VOICES: Mapping[str, str] = {"user": "first", "chatbot": "second", "judge": "third"}


def names_of(row: Row) -> Json:
    """What a conversation is asked for by: `persona` (its id where that is not known), `simulator` and `repeat`, as texts."""
    return {
        "persona": str(row.get("persona_name") or row.get("id") or ""),
        "simulator": str(row.get("user_simulator") or ""),
        "repeat": str(row.get("_ng_rollout_index") or 0),
    }


def listed(row: Row) -> list[str]:
    """A conversation as a line of a list, in the order of `LISTED`; a failed one with its failure in place of the score."""
    names = names_of(row)
    ratings = row.get("ratings")
    failure = row.get("_ng_failure_class")
    judged = isinstance(ratings, Mapping) and not failure
    harmful = [dimension for dimension, rating in ratings.items() if rating == HIGH_HARM] if judged and ratings else []
    turns = row.get("turn_count")
    return [
        *(name or "-" for name in names.values()),
        str(row.get("risk_level") or "-"),
        score_text(row) if judged else str(failure or "-"),
        f"{len(harmful)} of {len(ratings)}" if judged and ratings else "-",
        "-" if turns is None else str(turns),
    ]


def score_text(row: Row) -> str:
    """The conversation's own score; a dash where nothing was rated, or what stands there is no rating."""
    ratings = row.get("ratings")
    if not isinstance(ratings, Mapping) or any(rating not in RATINGS for rating in ratings.values()):
        return "-"
    score = conversation_score(ratings)
    return "-" if score is None else f"{score:.2f}"


def conversation_page(row: Row) -> Json:
    """A conversation with its verdict, or with its failure.

    Args:
        row: A scored row, or a failed attempt.

    Returns:
        `title`, `facts` (name and value), `tables`, and `sections` (each a `title` and `entries`, an entry being a `head`, a
        `text` and the `voice` that speaks: `first`, the user; `second`, the chatbot; `third`, the judge).
    """
    names = names_of(row)
    played = f", played by {names['simulator']}" if names["simulator"] else ""
    repeat = f", repeat {names['repeat']}" if names["repeat"] != "0" else ""
    sections = [
        {"title": "Conversation", "entries": [_turn(turn) for turn in turns_of(row)]},
        {"title": "The judge's path through the rubric", "entries": [_step(step) for step in path_of(row)]},
    ]
    return {
        "title": f"{names['persona'] or 'Conversation'}{played}{repeat}",
        "facts": _facts(row),
        "tables": [table for table in (_ratings(row),) if table["rows"]],
        "sections": [section for section in sections if section["entries"]],
    }


def _facts(row: Row) -> list[list[str]]:
    facts = {
        "id": row.get("id"),
        "risk level": row.get("risk_level"),
        "disclosure": row.get("disclosure_level"),
        "user model": ", ".join(models_of(row, PERSONA)),
        "chatbot model": ", ".join(models_of(row, PROVIDER)),
        "judge model": row.get("judge_model"),
        "turns": row.get("turn_count"),
        "ended": _ending(row),
        "own score": None if row.get("_ng_failure_class") or not row.get("ratings") else score_text(row),
        "failed as": row.get("_ng_failure_class"),
        "failed at": row.get("failure_stage"),
        "error": row.get("error"),
    }
    return [[name, str(value)] for name, value in facts.items() if value not in (None, "")]


def _ending(row: Row) -> str | None:
    if row.get("early_termination"):
        return "by the user"
    limit = mapping(row.get("simulation")).get("max_turns_effective")
    return "at the turn limit" if limit is not None and row.get("turn_count") == limit else None


def _ratings(row: Row) -> Table:
    ratings = mapping(row.get("ratings"))
    rows = [[dimension, text_of(rating) or "-", reason_of(row, dimension)] for dimension, rating in ratings.items()]
    return {"title": "Ratings", "columns": ["Dimension", "Rating", "Why"], "rows": rows, "prose": True}


def _turn(turn: StoredTurn) -> Json:
    speaker = SPEAKERS.get(turn.speaker, "unknown")
    marks = [
        *(["empty"] if turn.empty else []),
        *([f"cut short: {turn.cut}"] if turn.cut else []),
        *(["ends the conversation"] if turn.ended else []),
    ]
    marked = f" ({', '.join(marks)})" if marks else ""
    return {"head": f"{turn.number} {speaker}{marked}", "text": turn.text, "voice": _VOICES.get(speaker, "")}


def _step(step: StoredStep) -> Json:
    answer = step.answer or "-"
    if step.fallback:
        answer += f" (stands in for {step.raw!r}, which is no option)"
    if step.special:
        answer += " (answers itself)"
    head = f"{step.question} {step.dimension}: {answer}, then {step.following or 'the end'}"
    return {"head": head, "text": step.reasoning, "voice": _VOICES["judge"]}
