# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A root of components that has nothing to do with VERA-MH, and the command as its users call it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gym_host.config.configuration import Instance
from tests.support import sums_server

Json = dict[str, Any]

KEY_VARIABLES = (
    *("NEMO_GYM_EXTRA_ROOTS", "NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "VERA_MH_PACK"),
    "GYM_SERVER_TOKEN",
)

CONFIG = """
sums:
  responses_api_agents:
    sums_agent:
      entrypoint: app.py
      log: {log}
      resources_server: {{type: resources_servers, name: sums_verifier}}
      datasets:
        - {{name: sums, type: benchmark, jsonl_fpath: benchmarks/sums/rows.jsonl, num_repeats: 1}}
sums_verifier:
  resources_servers:
    sums_verifier: {{entrypoint: app.py, log: {log}}}
"""


def sum_row(number: int, *calls: str, **more: Any) -> Json:
    """A row of the benchmark `sums`; `calls` and `waits` are explained in `tests.support.sums_server`."""
    row: Json = {"id": f"sum-{number}", "number": number, "responses_create_params": {"input": []}, **more}
    return row | ({"calls": list(calls)} if calls else {})


class SumsRoot:
    """A root with the agent and the verifier `sums_agent` and `sums_verifier`, and the benchmark `sums`."""

    def __init__(self, path: Path, rows: Iterable[Json] = ()) -> None:
        self.path = path
        self.log = path / "calls.log"
        self.rows = path / "benchmarks/sums/rows.jsonl"
        for folder in ("responses_api_agents/sums_agent", "resources_servers/sums_verifier", "benchmarks/sums"):
            (path / folder).mkdir(parents=True)
        for program in ("responses_api_agents/sums_agent/app.py", "resources_servers/sums_verifier/app.py"):
            shutil.copy(sums_server.__file__, path / program)
        (path / "benchmarks/sums/config.yaml").write_text(CONFIG.format(log=self.log))
        self.write(rows)

    def write(self, rows: Iterable[Json]) -> Path:
        write_jsonl(self.rows, rows)
        return self.rows

    def open(self, gate: str) -> None:
        """Lets the rows be answered that wait for it."""
        (self.path / gate).touch()

    def calls(self) -> list[str]:
        """Every call so far: its kind, task and rollout index."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def instances(self, **settings: Any) -> tuple[Instance, Instance]:
        """The two servers; the settings are those of the agent."""
        reference = {"type": "resources_servers", "name": "sums_verifier"}
        agent = {"log": str(self.log), "resources_server": reference, **settings}
        return self._instance("sums", "responses_api_agents", "sums_agent", agent), self._instance(
            "sums_verifier", "resources_servers", "sums_verifier", {"log": str(self.log)}
        )

    def _instance(self, name: str, kind: str, folder: str, settings: Json) -> Instance:
        return Instance(name, kind, folder, settings, self.path / kind / folder / "app.py")


def write_jsonl(path: Path, rows: Iterable[Json]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def read_jsonl(path: Path) -> list[Json]:
    """The rows of a file, of which every line must be whole."""
    content = path.read_bytes()
    assert content == b"" or content.endswith(b"\n")
    return [json.loads(line) for line in content.split(b"\n")[:-1]]


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its contents."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def wait_until(condition: Callable[[], bool], *, seconds: float = 20.0) -> None:
    """Waits for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)


async def until(condition: Callable[[], bool], *, seconds: float = 5.0) -> None:
    """Waits for something that another task of this process does."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0)


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def gym_process(*words: str | Path, cwd: Path, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """The `gym` command as a process of its own, without the keys of the machine that the tests run on."""
    kept = {name: value for name, value in os.environ.items() if name not in KEY_VARIABLES and not name.startswith("VERA_MH_")}
    return subprocess.Popen(
        [sys.executable, "-m", "gym_host.cli.main", *map(str, words)],
        cwd=cwd,
        env=kept | dict(environ or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
