# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`x_run.json`: what a run was, when it went, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from gym_host.atomic import write_json
from gym_host.distribution import versions
from gym_host.errors import OutputError
from gym_host.jsonl import Json
from gym_host.runs.run_files import RunFiles


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a record tells. What is not there, or not as it should be, is empty: a record may be old, or somebody else's.

    Attributes:
        content: The record, as it is stored.
    """

    content: Mapping[str, Any]

    @property
    def agent(self) -> str | None:
        """Name of the agent that ran the rows."""
        agent = self._identity.get("agent")
        return agent if isinstance(agent, str) else None

    @property
    def servers(self) -> Json:
        """The servers that took part, by name."""
        return _object(self._identity.get("servers"))

    def settings(self, server: str | None) -> Json:
        """The settings of a server."""
        return _object(_object(self.servers.get(server or "")).get("settings"))

    @property
    def evaluated_server(self) -> str | None:
        """Name of the server that served the evaluated model: the one that the agent refers to."""
        name = _object(self.settings(self.agent).get("model_server")).get("name")
        return name if isinstance(name, str) else None

    @property
    def evaluated_model(self) -> str:
        """The model that was evaluated, as its server's settings name it."""
        return str(self.settings(self.evaluated_server).get("model") or "")

    @property
    def planned(self) -> int | None:
        """How many rollouts there were to be, as it was when the run ended."""
        planned = self._counts.get("planned")
        return planned if isinstance(planned, int) else None

    @property
    def failed(self) -> Json:
        """Failure class -> rollouts without a score that failed so last, as it was when the run ended."""
        return _object(self._counts.get("failed"))

    @property
    def versions(self) -> Json:
        """The packages that the run was made with, and their versions."""
        return _object(self.content.get("versions"))

    @property
    def _identity(self) -> Json:
        return _object(self.content.get("identity"))

    @property
    def _counts(self) -> Json:
        return _object(self.content.get("counts"))


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def read_record(files: RunFiles, *, mend: str = "choose another --output") -> Json:
    """The record of a run.

    Args:
        files: The files of the run.
        mend: What to do where it cannot be read.

    Raises:
        OutputError: It is missing or cannot be read.
    """
    try:
        record = orjson.loads(files.run.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise OutputError(f"{files.run} cannot be read: {error}", mend=mend) from None
    return record if isinstance(record, dict) else {}


def read_record_if_any(rollouts: Path) -> Json:
    """The record beside a rollouts file, or nothing."""
    files = RunFiles(rollouts)
    return read_record(files, mend="repair it, or move it away") if files.run.exists() else {}


def begin(files: RunFiles, record: Json, *, concurrency: int) -> None:
    """Writes that the run goes on; when an earlier part of it ended, is no end of it."""
    record.pop("ended_at", None)
    record |= {"versions": versions(), "concurrency": concurrency, "status": "running"}
    write_json(files.run, record)


def end(files: RunFiles, record: Json, *, status: str, counts: Mapping[str, object]) -> None:
    """Writes how the run ended."""
    record |= {"status": status, "ended_at": now(), "counts": dict(counts)}
    write_json(files.run, record)


def now() -> str:
    """The time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
