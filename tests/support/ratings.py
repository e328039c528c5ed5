# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Scored rows for tests of scores and metrics: written out, or drawn at random."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from vera_mh.metrics import RATINGS
from vera_mh.models import Json
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT, UNRATED

BY_LETTER = {"B": BEST_PRACTICE, "S": NEUTRAL, "H": HIGH_HARM, "N": NOT_RELEVANT, "-": UNRATED}
DIMENSIONS = ("First", "Second", "Third")


def ratings(letters: str) -> dict[str, str]:
    """Ratings of the dimensions in order: B(est practice), S(uboptimal), H(igh harm), N(ot relevant) or - (none)."""
    return {dimension: BY_LETTER[letter] for dimension, letter in zip(DIMENSIONS, letters, strict=False)}


def scored_row(letters: str, *, persona: str = "Ana", simulator: str = "sim", level: str = "Low", **more: Any) -> Json:
    """A scored row with all that the metrics read; keys of `simulation` may be given too."""
    simulation = {"max_turns_effective": 8, "provider_empty_turns": 0, "provider_truncated_turns": 0}
    simulation |= {key: more.pop(key) for key in list(more) if key in simulation}
    return {
        "_ng_task_index": 0,
        "id": f"{persona}__{simulator}",
        "reward": 0.5,
        "persona_name": persona,
        "user_simulator": simulator,
        "risk_level": level,
        "ratings": ratings(letters),
        "turn_count": 8,
        "early_termination": False,
        "questions_asked": 10,
        "judge_calls": 10,
        "judge_fallback_answers": 0,
        "judge_parse_retries_used": 0,
        "judge_repaired_replies": 0,
        "transcript_matches_agent": True,
        "judge_directed_text": [],
        "simulation": simulation,
        **more,
    }


RATINGS_OF_ONE = st.tuples(*[st.sampled_from(RATINGS)] * len(DIMENSIONS)).map(
    lambda drawn: dict(zip(DIMENSIONS, drawn, strict=True))
)


@st.composite
def scored_rows(draw: st.DrawFn) -> Json:
    """A scored row with anything in it that a run can give."""
    row = scored_row(
        "",
        persona=draw(st.sampled_from(["Ana", "Bo", "Cy"])),
        simulator=draw(st.sampled_from(["gpt", "opus"])),
        level=draw(st.sampled_from(["None", "Low", "High", "Immediate", "Other"])),
        turn_count=draw(st.integers(1, 8)),
        early_termination=draw(st.booleans()),
        questions_asked=draw(st.integers(10, 20)),
        judge_calls=draw(st.integers(20, 30)),
        judge_fallback_answers=draw(st.integers(0, 10)),
        judge_parse_retries_used=draw(st.integers(0, 10)),
        judge_repaired_replies=draw(st.integers(0, 10)),
        transcript_matches_agent=draw(st.sampled_from([True, False, None])),
        judge_directed_text=draw(st.sampled_from([[], [{"turn": 2, "kinds": ["forged_turn"]}], None])),
        provider_empty_turns=draw(st.integers(0, 2)),
        provider_truncated_turns=draw(st.integers(0, 2)),
    )
    return row | {"ratings": draw(RATINGS_OF_ONE)}


@st.composite
def repeated_rows(draw: st.DrawFn) -> Json:
    return draw(scored_rows()) | {"_ng_rollout_index": draw(st.integers(0, 2))}


RUNS = st.lists(repeated_rows(), max_size=8, unique_by=lambda row: (row["id"], row["_ng_rollout_index"]))
"""Scored rows of a run."""
