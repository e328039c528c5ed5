# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The whole chain: rows in, conversations simulated and judged, rollouts out, in one process or on ports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from vera_mh.pack import load_manifest, read_pack
from vera_mh.tasks import benchmark_rows

PROJECT = Path(__file__).parents[1]
CONFIG = PROJECT / "bench" / "chain.yaml"
GYM = [sys.executable, "-m", "gym_host.cli.main"]
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took.

    Attributes:
        conversations: Scored conversations.
        calls: Model calls that the endpoint counted.
        cpu_seconds: CPU of all our processes, start-up included.
        wall_seconds: From start to end, start-up included.
        peak_mb: Peak memory of the largest of our processes.
        longest: Sequential calls of the longest conversation: turns and judge questions.
    """

    conversations: int
    calls: int
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    longest: int


def write_rows(path: Path, count: int, max_turns: int) -> Path:
    """So many rows, from the demo's personas."""
    pack = read_pack(load_manifest(PROJECT / "benchmarks/vera_mh_demo/pack"), PROJECT / "benchmarks/vera_mh_demo/pack")
    rows = list(benchmark_rows(pack, prefix="bench", max_turns=max_turns))
    with path.open("w") as file:
        for number, row in enumerate(islice(cycle(rows), count)):
            # A note of its own in both prompts, so that no two conversations are the same.
            system = {"role": "system", "content": f"You are a helpful AI assistant. ({number})"}
            numbered = {
                "id": f"bench__{number}",
                "persona_system_prompt": f"{row['persona_system_prompt']}\n({number})",
                "responses_create_params": {"input": [system]},
            }
            row = {key: value for key, value in row.items() if key != "upstream"}  # no row of the pack as it is
            file.write(json.dumps(row | numbered) + "\n")
    return path


def run_in_process(url: str, rows: Path, output: Path, *words: str, concurrency: int) -> Cost:
    """`gym eval run` with all servers in its process."""
    command = run_command(rows, output, concurrency, words)
    before, began = calls_of(url), time.perf_counter()
    process = subprocess.Popen(
        command, env=environment_for(url), cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"the run ended with {process.returncode}: {' '.join(command)}")
    wall = time.perf_counter() - began
    return cost_of(output, calls_of(url) - before, usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def run_on_ports(url: str, rows: Path, output: Path, *, concurrency: int, head_port: int) -> Cost:
    """`gym eval run --no-serve` against `gym env start`; the CPU of all processes counts."""
    with _servers(url, head_port) as pids:
        before, began, used = calls_of(url), time.perf_counter(), sum(map(cpu_of, pids))
        command = run_command(rows, output, concurrency, ["--no-serve", "--head", f"http://127.0.0.1:{head_port}"])
        process = subprocess.Popen(command, env=environment_for(url), cwd=PROJECT, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
        servers = sum(map(cpu_of, pids)) - used
        peak = max(map(_peak_of, pids))
        calls = calls_of(url) - before
    return cost_of(output, calls, servers + usage.ru_utime + usage.ru_stime, wall, max(peak, usage.ru_maxrss / 1024))


def run_command(rows: Path, output: Path, concurrency: int, words: Sequence[str]) -> list[str]:
    """The words of `gym eval run` with the benchmark's configuration."""
    data = ["--config", str(CONFIG), "--agent", "vera_mh_agent", "--input", str(rows), "--output", str(output), "--overwrite"]
    return [*GYM, "eval", "run", *data, "--concurrency", str(concurrency), *words]


@contextmanager
def _servers(url: str, head_port: int) -> Iterator[list[int]]:
    command = [*GYM, "env", "start", "--config", str(CONFIG), "--head-port", str(head_port)]
    process = subprocess.Popen(command, env=environment_for(url), cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        if not any(line.startswith("stop them") for line in process.stdout):
            raise SystemExit("the servers did not come up")
        with urllib.request.urlopen(f"http://127.0.0.1:{head_port}/servers") as answer:
            yield [server["pid"] for server in json.load(answer)["servers"]]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def environment_for(url: str) -> Mapping[str, str]:
    """The environment in which the configuration finds its endpoint."""
    return os.environ | {"BENCH_URL": url.removesuffix("/v1")}


def calls_of(url: str) -> int:
    """Model calls that the endpoint has counted."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as answer:
        counts: dict[str, Any] = json.load(answer)["counts"]
    return sum(count for name, count in counts.items() if "/" not in name)


def cpu_of(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _peak_of(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def cost_of(output: Path, calls: int, cpu: float, wall: float, peak: float) -> Cost:
    """The cost of a run, with what its rollouts tell of it."""
    conversations, longest = 0, 0
    with output.open("rb") as lines:
        for line in lines:
            row = json.loads(line)
            conversations += 1
            longest = max(longest, row["turn_count"] + row["judge_calls"])
    return Cost(conversations, calls, cpu, wall, peak, longest)
