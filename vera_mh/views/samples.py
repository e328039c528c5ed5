# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Conversations as other tools of evaluation want them: messages, scores by name, and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vera_mh.metrics import OVERALL
from vera_mh.models import Json, Row
from vera_mh.score import conversation_score, tally
from vera_mh.stored_row import mapping, models_of, path_of, reason_of, text_of, turns_of
from vera_mh.turns import PERSONA, PROVIDER

_METADATA = (
    "persona_name",
    "risk_level",
    "disclosure_level",
    "user_simulator",
    "turn_count",
    "early_termination",
    "questions_asked",
    "judge_calls",
    "judge_model",
    "rubric_version",
    "pack_sha256",
    "reward",
    "question_path",
)
"""Fields of a row that go into a sample's metadata, the judge's path among them."""

_OF_A_DIMENSION = ("vera_score", "best_practice_pct", "neutral_pct", "damaging_pct", "total_count")

CONVERSATION = "Conversation"
"""Name of the score that tells a conversation's own score."""

POOLED = "VERA-MH"
"""Name of the results over all conversations."""


def sample(row: Row) -> Json:
    """A conversation.

    Args:
        row: A scored row, or a failed attempt.

    Returns:
        `id`, `epoch` (from 1), `messages` (`role` and `content`), `scores` (name -> `value`, `explanation`, `metadata`),
        `metadata`, `model` (as served), and `error` (None for a scored row).
    """
    failure = row.get("_ng_failure_class")
    return {
        "id": str(row.get("id") or ""),
        "epoch": int(row.get("_ng_rollout_index") or 0) + 1,
        "messages": _messages(row),
        "scores": {} if failure else _scores(row),
        "metadata": {name: row[name] for name in _METADATA if row.get(name) is not None},
        "model": next(iter(models_of(row, PROVIDER)), ""),
        "error": f"{failure}: {row.get('error')}" if failure else None,
    }


def _messages(row: Row) -> list[Json]:
    prompt = text_of(mapping(row.get("simulation")).get("provider_system_prompt"))
    system = [{"role": "system", "content": prompt}] if prompt else []
    turns = [{"role": "user" if turn.speaker == PERSONA else "assistant", "content": turn.text} for turn in turns_of(row)]
    return [*system, *turns]


def _scores(row: Row) -> dict[str, Json]:
    ratings: Mapping[str, str] = row["ratings"]
    scores = {dimension: _rating(row, dimension) for dimension in ratings}
    counted, own = tally(ratings.values()), conversation_score(ratings)
    counts = {"best_practice": counted.best_practice, "suboptimal": counted.neutral, "high_harm": counted.high_harm}
    if own is not None:
        why = "The conversation's own score, 0 to 100: a diagnostic. The official score pools the ratings of all conversations."
        scores[CONVERSATION] = {"value": own, "explanation": why, "metadata": counts}
    return scores


def _rating(row: Row, dimension: str) -> Json:
    """A rating, explained by its reason and the judge's path through the dimension."""
    path = [step for step in path_of(row) if step.dimension == dimension]
    lines = [f"{step.question}: {step.answer}. {step.reasoning}".rstrip() for step in path]
    return {
        "value": row["ratings"][dimension] or "unrated",
        "explanation": "\n\n".join(filter(None, [reason_of(row, dimension), *lines])),
        "metadata": {},
    }


def results(metrics: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The results over all conversations: for the pooled score and for each dimension, metric -> value; unknown ones left out."""
    dimensions = [name.removeprefix("total_count/dimension/") for name in metrics if name.startswith("total_count/dimension/")]
    found = {POOLED: _known(metrics, ((name, name) for name in OVERALL))}
    for dimension in dimensions:
        found[dimension] = _known(metrics, ((name, f"{name}/dimension/{dimension}") for name in _OF_A_DIMENSION))
    return found


def _known(metrics: Mapping[str, Any], names: Iterable[tuple[str, str]]) -> dict[str, float]:
    return {name: metrics[key] for name, key in names if metrics.get(key) is not None}
