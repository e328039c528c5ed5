# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How a run under NVIDIA's host is held against the same run under ours: everything must be equal but what is listed here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.support.components import read_jsonl

Json = dict[str, Any]

TIMES = {
    "simulation.duration_ms",
    "simulation.turn_records[].latency_ms",
    "response.created_at",
}
"""When it was, and how long it took."""

ONLY_THEIRS = {
    "_ng_environment_server",  # which relay NVIDIA's host sent the row through; ours needs none
    "_ng_result_type",  # and of what kind that is
}
"""What only NVIDIA's host writes into a row."""

ONLY_OURS_OF_FAILURES = {
    "_ng_attempt_index",  # NVIDIA's host writes it from the second attempt on
    "failed_at",
    "duration_seconds",
}
"""What only our host writes into a failed row."""

METRICS_ONLY_THEIRS = {
    "_ng_environment_server",
    "repeat_level_metrics",  # the default of NVIDIA's model of the answer; our verifier gives none
}
METRICS_ONLY_OURS = {
    *("num_planned", "num_scored", "num_failed", "failures_by_class", "complete"),  # how much the metrics rest on
    "measure",  # what the rows were rated by
}
"""What only one host writes into the metrics file, beside the metrics."""


def file_of(output: Path, ending: str) -> Path:
    """A file of a run by the ending of its name, such as `_failures.jsonl`."""
    return output.with_name(f"{output.stem}{ending}")


def rows_of(output: Path, ending: str = ".jsonl") -> list[Json]:
    """The rows of a file of a run, in the order of tasks and rollouts: NVIDIA's host leaves them as they came."""
    return sorted(read_jsonl(file_of(output, ending)), key=lambda row: (row["_ng_task_index"], row["_ng_rollout_index"]))


def metrics_of(output: Path) -> Json:
    (entry,) = json.loads(file_of(output, "_aggregate_metrics.json").read_bytes())
    return dict(entry)


def differences(ours: Any, theirs: Any, *, except_for: Iterable[str] = ()) -> dict[str, tuple[Any, Any]]:
    """Where two values differ.

    Args:
        ours: JSON of our host.
        theirs: JSON of NVIDIA's host.
        except_for: Places that may differ, such as `simulation.turn_records[].latency_ms`, with all below them.

    Returns:
        Place -> the first two values that differ there.
    """
    allowed = set(except_for)
    found: dict[str, tuple[Any, Any]] = {}
    for place, one, other in _differing(ours, theirs, ""):
        if not allowed.intersection(_upwards(place)):
            found.setdefault(place, (one, other))
    return found


_MISSING = "(not there)"


def _differing(ours: Any, theirs: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in ours.keys() | theirs.keys():
            below = f"{place}.{key}" if place else key
            yield from _differing(ours.get(key, _MISSING), theirs.get(key, _MISSING), below)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs, strict=True):
            yield from _differing(one, other, f"{place}[]")
    elif ours != theirs or type(ours) is not type(theirs):
        yield place, ours, theirs


def _upwards(place: str) -> Iterator[str]:
    """A place and all that it lies in: `a.b[].c`, `a.b[]`, `a.b`, `a`."""
    while place:
        yield place
        place = re.sub(r"(\[\]|\.?[^.\[\]]+)$", "", place)


def assert_same_rows(ours: list[Json], theirs: list[Json], *, except_for: Iterable[str] = ()) -> None:
    """Asserts that two runs came to the same rows, and that each host wrote what it alone writes."""
    assert len(ours) == len(theirs) > 0
    assert all(ONLY_THEIRS <= row.keys() for row in theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert differences(one, other, except_for={*TIMES, *ONLY_THEIRS, *except_for}) == {}


def assert_same_run(ours: Path, theirs: Path) -> None:
    """Asserts that the rollouts, the dispatched rows, the failures and the metrics of two runs are the same."""
    assert_same_rows(rows_of(ours), rows_of(theirs))
    assert rows_of(ours, "_materialized_inputs.jsonl") == rows_of(theirs, "_materialized_inputs.jsonl")
    if rows_of(ours, "_failures.jsonl") or rows_of(theirs, "_failures.jsonl"):
        only_ours = ONLY_OURS_OF_FAILURES
        assert_same_rows(rows_of(ours, "_failures.jsonl"), rows_of(theirs, "_failures.jsonl"), except_for=only_ours)
    assert_same_metrics(ours, theirs)


def assert_same_metrics(ours: Path, theirs: Path, *, except_for: Iterable[str] = ()) -> None:
    """Asserts that the metrics of two runs are the same."""
    one, other = metrics_of(ours), metrics_of(theirs)
    assert one.keys() - other.keys() == METRICS_ONLY_OURS
    assert differences(one, other, except_for={*METRICS_ONLY_THEIRS, *METRICS_ONLY_OURS, *except_for}) == {}
    assert other["agent_metrics"]
