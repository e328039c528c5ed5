# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run as trackers of experiments want it: numbers by name, and what was run as short texts. It needs no package."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gym_host.errors import OutputError, UserError
from gym_host.runs.run_record import RunRecord
from gym_host.runs.stored_run import StoredRun

_COUNTS = ("num_planned", "num_scored", "num_failed")
_MEND = "finish the run with --resume, or compute them with `gym eval aggregate`"


@dataclass(frozen=True, slots=True)
class FlatRun:
    """A run without its rows.

    Attributes:
        name: The name of its rollouts file, without the ending.
        group: The agent that ran it.
        metrics: Name -> number; what is not known is left out, since trackers have no word for it.
        facts: Name -> text: models, status, versions.
        started: When it began, in seconds since the epoch; None if nothing says.
        ended: When it ended.
    """

    name: str
    group: str
    metrics: dict[str, float]
    facts: dict[str, str]
    started: float | None
    ended: float | None


def flat_run(run: StoredRun) -> FlatRun:
    """A run's metrics file and record, flat.

    Raises:
        UserError: It has no metrics.
    """
    if not run.metrics:
        raise UserError(f"{run.files.metrics} is missing or empty, so there are no metrics", mend=_MEND)
    entry = run.metrics[0]
    metrics = {**entry.get("agent_metrics", {}), **{name: entry.get(name) for name in _COUNTS}}
    return FlatRun(
        name=run.path.stem,
        group=str(entry.get("agent_ref", {}).get("name") or run.path.stem),
        metrics={name: float(value) for name, value in metrics.items() if _is_number(value)},
        facts=_facts(RunRecord(run.record)),
        started=seconds(run.record.get("started_at")),
        ended=seconds(run.record.get("ended_at")),
    )


def make_folder(folder: Path) -> None:
    """Makes the folder that an export goes to, if it is not there.

    Raises:
        OutputError: There is a file in its place, or it may not be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        mend = "name another place"
        raise OutputError(
            f"{folder} is no folder and cannot be made one: {error.strerror}", where="--output", mend=mend
        ) from None


def _facts(record: RunRecord) -> dict[str, str]:
    facts = {
        "status": record.content.get("status"),
        "evaluated_model": record.evaluated_model,
        **{f"model/{name}": record.settings(name).get("model") for name in record.servers},
        **{f"version/{name}": version for name, version in record.versions.items()},
    }
    return {name: str(value) for name, value in facts.items() if value}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def seconds(time: Any) -> float | None:
    """A time of a record, as it is written in there; None for whatever else stands there."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
