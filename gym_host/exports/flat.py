# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run as trackers of experiments want it: numbers by name, and what was run as short texts. It needs no package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gym_host.errors import OutputError, UserError
from gym_host.jsonl import Json
from gym_host.runs.identity import evaluated_server
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
        facts=_facts(run.record),
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


def evaluated_model(record: Mapping[str, Any]) -> str:
    """The model that was evaluated, as its server's settings name it; empty if the record does not tell."""
    servers: Json = (record.get("identity") or {}).get("servers") or {}
    return str((servers.get(str(evaluated_server(record)), {}).get("settings") or {}).get("model") or "")


def _facts(record: Mapping[str, Any]) -> dict[str, str]:
    servers: Json = (record.get("identity") or {}).get("servers") or {}
    models = {name: (server.get("settings") or {}).get("model") for name, server in servers.items()}
    facts = {
        "status": record.get("status"),
        "evaluated_model": evaluated_model(record),
        **{f"model/{name}": model for name, model in models.items()},
        **{f"version/{name}": version for name, version in (record.get("versions") or {}).items()},
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
