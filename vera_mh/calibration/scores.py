# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The control of the scores: upstream's scorer scores our ratings, pooled, by dimension and by risk level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vera_mh.calibration.control import Control, differing
from vera_mh.exchange.upstream_names import file_stem
from vera_mh.exchange.upstream_results import Judging, dimensions_of, results_csv
from vera_mh.exchange.upstream_scores import upstream_scores
from vera_mh.metrics import compute_metrics
from vera_mh.models import Json, Row
from vera_mh.rating import UNRATED
from vera_mh.score import RISK_LEVELS

NAME = "score"
_RUN = "calibration"
FIELDS = (
    "id",
    "_ng_rollout_index",
    "persona_name",
    "user_simulator",
    "risk_level",
    "ratings",
    "yes_question_ids",
    "yes_reasoning",
)
"""What the control reads of a row."""

_PARTS = ("summary", "aggregates", "dimensions")
_POOLED = (
    "vera_score",
    "overall_best_practice_pct",
    "overall_neutral_pct",
    "overall_damaging_pct",
    "total_conversations",
    "total_dimension_evaluations",
    "total_relevant_conversations",
    "pct_conversations_all_best_practice_or_not_relevant",
    "pct_conversations_with_at_least_one_high_harm",
)
_BY_DIMENSION = ("vera_score", "best_practice_pct", "neutral_pct", "damaging_pct", "total_count")
_OF_A_RISK_LEVEL = ("vera_score", "best_practice_pct", "damaging_pct", "not_relevant_pct")


def results_of(rows: Sequence[Row]) -> str:
    """Our ratings in the form of the `results.csv` that upstream's judge leaves for its scorer."""
    return results_csv((_judging(number, row) for number, row in enumerate(rows)), dimensions_of(rows))


def _judging(number: int, row: Row) -> Judging:
    # Upstream looks the persona up by this name, so it stands as it is; no file is called so.
    name = file_stem(f"{number:06x}", row.get("persona_name") or "unknown", _RUN, 1)
    ids, reasoning = (row.get(key) or {} for key in ("yes_question_ids", "yes_reasoning"))
    issues = {dimension: (ids.get(dimension, ""), reasoning.get(dimension, "")) for dimension in row["ratings"]}
    return Judging(f"{name}.txt", _RUN, _RUN, row["ratings"], issues)


def compare(control: Control, rows: Sequence[Row], answer: Json, *, published: Mapping[str, Any] | None = None) -> None:
    """Holds upstream's scores against ours.

    Args:
        control: Takes the counts and the mismatches.
        rows: The scored rows.
        answer: Upstream's documents: `scores` and `by_risk`.
        published: The `agent_metrics` that the run wrote, if it did; they have to be those of its rows.
    """
    ours, upstream = upstream_scores(rows, dimensions_of(rows)), answer["scores"]
    control.counts["conversations"] += len(rows)
    for part in _PARTS:
        _hold(control, f"{part}.", flat(ours[part]), flat(upstream[part]))
    levels: Mapping[str, Any] = answer["by_risk"]["risk_level_scores"]
    for level, scores in by_risk(rows).items():
        found: Mapping[str, Any] = levels.get(level) or {}
        _hold(control, f"risk level {level}: ", flat(scores), flat(_same_keys(scores, found)))
    if published is not None:
        metrics = {name: value for name, value in compute_metrics(rows).items() if _is_score(name)}
        _hold(control, "metrics file: ", {name: value for name, value in published.items() if _is_score(name)}, metrics)


def _is_score(name: str) -> bool:
    """Whether a metric is among those that upstream has."""
    return name in _POOLED or name.startswith(tuple(f"{kind}/dimension/" for kind in _BY_DIMENSION)) or "/risk_level/" in name


def by_risk(rows: Sequence[Row]) -> dict[str, Json]:
    """Our numbers by risk level, in the shape of upstream's; a dimension that a level has no rating in is left out, as there."""
    metrics = compute_metrics(rows)
    scores: dict[str, Json] = {}
    for level in RISK_LEVELS:
        of_it = [row for row in rows if row.get("risk_level") == level]
        rated = dict.fromkeys(name for row in of_it for name, rating in row["ratings"].items() if rating != UNRATED)
        if of_it:
            scores[level] = {
                "total_conversations": metrics[f"num_conversations/risk_level/{level}"],
                "dimensions": {
                    name: {key: metrics[f"{key}/risk_level/{level}/dimension/{name}"] for key in _OF_A_RISK_LEVEL}
                    for name in rated
                },
            }
    return scores


def _same_keys(ours: Any, upstream: Any) -> Any:
    """Upstream's values under the keys that ours has; it tells counts beside them."""
    if not isinstance(ours, Mapping) or not isinstance(upstream, Mapping):
        return upstream
    return {key: _same_keys(ours[key], upstream[key]) for key in ours if key in upstream}


def _hold(control: Control, place: str, ours: Mapping[str, Any], upstream: Mapping[str, Any]) -> None:
    control.counts["numbers"] += len(ours)
    control.mismatches += differing("", place, ours, upstream)


def flat(value: Mapping[str, Any], prefix: str = "") -> Json:
    """Nested mappings as one, keys joined by dots."""
    found: Json = {}
    for key, inner in value.items():
        found |= flat(inner, f"{prefix}{key}.") if isinstance(inner, Mapping) else {f"{prefix}{key}": inner}
    return found
