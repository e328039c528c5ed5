# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of the benchmark `sums`, and what they leave."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gym_host.errors import UserError
from gym_host.runs.attempts import run_attempt
from gym_host.runs.evaluating import evaluate
from gym_host.runs.evaluation import Evaluation
from gym_host.runs.outcome import Outcome
from gym_host.runs.run_files import RunFiles
from gym_host.runs.tasks import Plan, materialize
from gym_host.serving.local import running
from tests.support.components import SumsRoot, read_jsonl, snapshot

Json = dict[str, Any]


class Bench:
    """The benchmark `sums`, and the files of one run of it."""

    def __init__(self, folder: Path) -> None:
        self.root = SumsRoot(folder / "root")
        self.files = RunFiles.of(folder / "results" / "x.jsonl")
        self.said = io.StringIO()

    def evaluation(self, *, plan: Json | None = None, agent: Json | None = None, **more: Any) -> Evaluation:
        rows = materialize(self.root.rows, Plan("sums", "sums", **(plan or {})))
        instances = self.root.instances(**(agent or {}))
        return Evaluation(
            servers=lambda: running(instances),
            instances=instances,
            attempt=lambda calls: run_attempt(calls, "sums", "sums_verifier"),
            agent="sums",
            scorer="sums",
            rows=rows,
            files=self.files,
            **{"concurrency": 2, **more},
        )

    async def run(self, **more: Any) -> Outcome:
        async with asyncio.timeout(20):
            return await evaluate(self.evaluation(**more), Console(file=self.said, width=80, color_system=None))

    async def refused(self, **more: Any) -> str:
        """What a run is refused for; no file is touched by it."""
        before = snapshot(self.files.rollouts.parent)
        with pytest.raises(UserError) as caught:
            await self.run(**more)
        assert snapshot(self.files.rollouts.parent) == before
        return str(caught.value)

    @property
    def rows(self) -> list[Json]:
        return read_jsonl(self.files.rollouts)

    @property
    def failures(self) -> list[Json]:
        return read_jsonl(self.files.failures)

    @property
    def record(self) -> Json:
        record: Json = json.loads(self.files.run.read_bytes())
        return record

    @property
    def metrics(self) -> Json:
        (entry,) = json.loads(self.files.metrics.read_bytes())
        return dict(entry)


def break_first_line(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"{", b"(", 1))


def numbers(rows: list[Json]) -> list[int]:
    return [row["number"] for row in rows]
