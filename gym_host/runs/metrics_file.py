# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`x_aggregate_metrics.json`: the metrics of a run and what they rest on, an entry for each agent."""

from __future__ import annotations

from pathlib import Path

import orjson

from gym_host.errors import OutputError
from gym_host.jsonl import Json
from gym_host.runs.outcome import Outcome

METRICS_ANEW = "run the command that wrote the run again with --resume, or an aggregate's with --overwrite: both compute it anew"
"""What to do about a metrics file that is broken."""


def metrics_entry(agent: str, metrics: Json, outcome: Outcome) -> Json:
    """One entry of the metrics file: an agent's metrics, how many rollouts they rest on, and what these were rated by."""
    return {
        "agent_ref": {"name": agent},
        "agent_metrics": metrics["agent_metrics"],
        "key_metrics": metrics["key_metrics"],
        "group_level_metrics": metrics["group_level_metrics"],
        "num_planned": outcome.planned,
        "num_scored": outcome.scored,
        "num_failed": outcome.failures.total(),
        "failures_by_class": dict(outcome.failures),
        "complete": outcome.complete,
        "measure": {name: values[0] if len(values) == 1 else values or None for name, values in outcome.measure.items()},
    }


def read_metrics(path: Path) -> list[Json]:
    """The entries of a metrics file; empty if there is none.

    Raises:
        OutputError: It cannot be read, or is something else.
    """
    if not path.exists():
        return []
    try:
        entries = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise OutputError(f"{path} cannot be read: {error}", mend=METRICS_ANEW) from None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OutputError("this is no metrics file of a run", where=str(path), mend=METRICS_ANEW)
    return entries
