# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A small benchmark behind an endpoint that answers well, and a run of it that nothing disturbed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.behind import Behind, Results, results, small_benchmark
from tests.support.endpoint import endpoint_process
from tests.support.lives import Lives

TIMES = {"simulation", "response"}
"""What holds times, and so differs from run to run."""


@dataclass(frozen=True)
class Small:
    """The benchmark, the run, and a way to run it that does not take long."""

    behind: Behind
    undisturbed: Results
    lives: Lives

    def run(self, output: Path, *words: str, code: int = 0) -> str:
        """Runs the command to its end; what it said."""
        end = self.lives.live(self.behind.command(output, *words))
        assert end.code == code, end
        return end.said

    def must_be(self, output: Path) -> None:
        """The run there is complete, and came to what the undisturbed one came to."""
        done = results(output)
        assert [_without_times(row) for row in done.rows] == [_without_times(row) for row in self.undisturbed.rows]
        assert done.metrics == self.undisturbed.metrics
        assert done.record["status"] == "complete"

    def copy(self, folder: Path) -> Results:
        """The files of the undisturbed run, in a folder of their own."""
        folder.mkdir(parents=True, exist_ok=True)
        there = results(folder / "x.jsonl")
        for source, target in zip(self.undisturbed.files.all, there.files.all, strict=True):
            target.write_bytes(source.read_bytes())
        return there


def _without_times(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in TIMES}


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Small]:
    folder: Path = tmp_path_factory.mktemp("small")
    with endpoint_process(seed=7) as url:
        behind = small_benchmark(folder, rows=12, max_turns=6).behind(url)
        with Lives(behind.environ) as lives:
            small = Small(behind, results(folder / "undisturbed.jsonl"), lives)
            small.run(folder / "undisturbed.jsonl")
            yield small
