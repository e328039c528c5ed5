# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The same servers under NVIDIA's host, where `make interop` has installed it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.chain import CONFIG, PROJECT, Cost, calls_of, cost_of
from tests.support.nemo_gym import MARK, NemoGym

_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY_SECONDS = 0.2


@dataclass(slots=True)
class Spent:
    """CPU that processes have used, looked at again and again, since some end before the whole does.

    Attributes:
        seconds: Process -> CPU seconds when it was last seen.
        ours: Those that run one of our servers.
        peak_mb: Peak memory of the largest of ours.
    """

    seconds: dict[int, float] = field(default_factory=dict)
    ours: set[int] = field(default_factory=set)
    peak_mb: float = 0.0

    def look(self) -> None:
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError, IndexError):
                if f"{MARK}=".encode() not in (entry / "environ").read_bytes():
                    continue
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                self.seconds[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICKS
                if (entry / "cmdline").read_bytes().split(b"\0")[1:2] == [b"app.py"]:
                    self.ours.add(int(entry.name))
                    status = (entry / "status").read_text()
                    self.peak_mb = max(self.peak_mb, int(status.split("VmHWM:")[1].split()[0]) / 1024)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def of_our_servers(self) -> float:
        return sum(self.seconds[pid] for pid in self.ours)


@contextmanager
def watched() -> Iterator[Spent]:
    """Watches all processes that NVIDIA's command starts within the context."""
    spent, ended = Spent(), threading.Event()

    def watch() -> None:
        while not ended.wait(_EVERY_SECONDS):
            spent.look()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield spent
    finally:
        ended.set()
        watcher.join()


def run_under_nemo_gym(folder: Path, url: str, rows: Path, output: Path, *, concurrency: int) -> tuple[Cost, float]:
    """NVIDIA's `gym eval run` over the rows.

    Args:
        folder: The environment in which it is installed.
        url: The endpoint that plays all models.
        rows: The rows.
        output: Where its rollouts go.
        concurrency: Rollouts at once.

    Returns:
        What all of its processes took, and the CPU seconds of our servers among them.
    """
    scratch = Path(tempfile.mkdtemp(prefix="vmh-", dir="/tmp"))  # Ray puts sockets there, whose paths must be short
    words = ("eval", "run", "--config", _with_rows(rows), "--split", "benchmark", "--concurrency", str(concurrency))
    before, began = calls_of(url), time.perf_counter()
    try:
        with watched() as spent:
            environ = {"BENCH_URL": url.removesuffix("/v1")}
            NemoGym(folder, scratch).evaluate(*words, output=output, environ=environ)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    wall = time.perf_counter() - began
    return cost_of(output, calls_of(url) - before, spent.total, wall, spent.peak_mb), spent.of_our_servers


def _with_rows(rows: Path) -> Path:
    """A configuration whose benchmark are these rows: beside servers that it starts, NVIDIA's command takes no others."""
    script = rows.with_suffix(".py")
    script.write_text(f"from pathlib import Path\n\n\ndef prepare():\n    return Path({str(rows)!r})\n")
    dataset = {"name": "bench", "type": "benchmark", "jsonl_fpath": str(rows), "prompt_config": None, "num_repeats": 1}
    dataset["prepare_script"] = str(script)
    agent = {"vera_mh_agent": {"responses_api_agents": {"vera_mh_agent": {"datasets": [dataset]}}}}
    path = rows.with_suffix(".yaml")
    path.write_text(json.dumps({"config_paths": [str(CONFIG)], **agent}))
    return path


def installed() -> Path | None:
    """Where `make interop` has installed it, or None."""
    folder = PROJECT / os.environ.get("INTEROP_VENV", ".venv-interop")
    return folder if (folder / "bin/gym").exists() else None
