# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`make soak`: one run for many minutes, and whether its memory, its open files and its own part of each call stay as they were.

    python -m bench.soak --minutes 10 --concurrency 200

The endpoint answers after half a second, where a real one takes several: ten minutes hold as many calls as an hour or more. Our
own part of a call is how long the agent waited for a turn, minus how long the endpoint had the request in its hands.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.chain import PROJECT, cpu_of, environment_for, run_command, write_rows
from tests.support.endpoint import Fault, endpoint_process

Json = dict[str, Any]

_PARTS = 10
_WARM_UP = 0.15
"""The share of the time that is not judged: until then the first conversations have not come to their judging."""
_FLAT = 0.1
"""A measure is flat if its last third is at most so much above its first."""
_ALLOWED = {"memory_mb": 8.0, "open_files": 8.0, "own_ms_p25": 3.0}
"""What a last third may be above its first however small that is. Of the latencies it is the lower quartile that is judged, since
other programs of the machine move it least."""
_KEPT_KB = 12.0
"""What a finished conversation may add to the memory: the fields that the metrics read are kept until the end of a run, and are
read once more whenever a score is shown."""
_CALLS_OF_A_CONVERSATION = 25
"""Fewer than there are, so that the rows last."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at one moment.

    Attributes:
        at: Seconds since the run began.
        memory_mb: Memory of its process.
        open_files: Its open descriptors.
        cpu_seconds: CPU that it has used.
        calls: Calls that the endpoint has answered.
        endpoint_seconds: How long the endpoint had all of them in its hands.
        turns_ms: How long the agent waited for each turn of the conversations that have finished since the sample before.
        scored: Conversations that have finished.
    """

    at: float
    memory_mb: float
    open_files: int
    cpu_seconds: float
    calls: int
    endpoint_seconds: float
    turns_ms: Sequence[float] = ()
    scored: int = 0


@dataclass(slots=True)
class Finished:
    """The rows of a file that grows, as they come."""

    path: Path
    scored: int = 0
    _offset: int = field(default=0)

    def turns_ms(self) -> list[float]:
        """Latencies of the turns of all rows that have come since the last look."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._offset)
            whole, end, _ = file.read().rpartition(b"\n")
        self._offset += len(whole) + len(end)
        rows = [json.loads(line) for line in whole.splitlines()]
        self.scored += len(rows)
        return [record["latency_ms"] for row in rows for record in row["simulation"]["turn_records"]]


def soak(folder: Path, url: str, *, minutes: float, concurrency: int, latency: float) -> tuple[list[Sample], int]:
    """Runs, and looks every second.

    Returns:
        The samples, and the exit code of the run.
    """
    count = concurrency + int(minutes * 60 * concurrency / (_CALLS_OF_A_CONVERSATION * latency))
    output = folder / "soak.jsonl"
    command = run_command(write_rows(folder / "rows.jsonl", count, max_turns=30), output, concurrency, [])
    process = subprocess.Popen(
        command, env=environment_for(url), cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    finished, samples, began = Finished(output), list[Sample](), time.monotonic()
    while process.poll() is None and time.monotonic() - began < minutes * 60:
        time.sleep(1.0)
        status = Path(f"/proc/{process.pid}/status").read_text()
        if "VmRSS:" not in status:
            break  # It has ended, and nobody has collected it yet.
        samples.append(_sample(process.pid, status, url, time.monotonic() - began, finished))
    process.send_signal(signal.SIGINT)
    return samples, process.wait(timeout=60)


def _sample(pid: int, status: str, url: str, at: float, finished: Finished) -> Sample:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as answer:
        stats = json.load(answer)
    turns_ms = finished.turns_ms()
    return Sample(
        at=at,
        memory_mb=int(status.split("VmRSS:")[1].split()[0]) / 1024,
        open_files=len(os.listdir(f"/proc/{pid}/fd")),
        cpu_seconds=cpu_of(pid),
        calls=sum(count for name, count in stats["counts"].items() if "/" not in name),
        endpoint_seconds=stats["seconds"],
        turns_ms=turns_ms,
        scored=finished.scored,
    )


def measures(samples: Sequence[Sample]) -> Json:
    """What a stretch of time was like."""
    first, last = samples[0], samples[-1]
    calls = max(1, last.calls - first.calls)
    endpoint_ms = 1000 * (last.endpoint_seconds - first.endpoint_seconds) / calls
    own = sorted(turn - endpoint_ms for sample in samples[1:] for turn in sample.turns_ms)
    found: Json = {
        "from_seconds": round(first.at),
        "calls": calls,
        "scored": last.scored - first.scored,
        "memory_mb": statistics.fmean(sample.memory_mb for sample in samples),
        "open_files": statistics.fmean(sample.open_files for sample in samples),
        "cpu_ms_per_call": 1000 * (last.cpu_seconds - first.cpu_seconds) / calls,
        "endpoint_ms": endpoint_ms,
    }
    return found | {
        "own_ms_mean": statistics.fmean(own) if own else None,
        "own_ms_p25": own[len(own) // 4] if own else None,
        "own_ms_p50": own[len(own) // 2] if own else None,
        "own_ms_p95": own[len(own) * 95 // 100] if own else None,
    }


def judged(samples: Sequence[Sample]) -> Json:
    """The parts of the time one by one, and whether the last third of it, warm-up aside, is as the first."""
    end = samples[-1].at
    warm = [sample for sample in samples if sample.at >= _WARM_UP * end]
    thirds = [measures(part) for part in _split(warm, 3)]
    flat = {name: _is_flat(thirds[0][name], thirds[-1][name], allowed) for name, allowed in _ALLOWED.items()}
    grown = thirds[-1]["memory_mb"] - thirds[0]["memory_mb"]
    conversations = sum(third["scored"] for third in thirds) * 2 / 3  # From the middle of the first to that of the last.
    kept = 1024 * grown / conversations if conversations else None
    flat["memory_mb"] = flat["memory_mb"] or (kept is not None and kept <= _KEPT_KB)
    return {
        "parts": [measures(part) for part in _split(samples, _PARTS)],
        "first_third": thirds[0],
        "last_third": thirds[-1],
        "flat": flat,
        "kb_per_conversation": kept,
    }


def _split(samples: Sequence[Sample], parts: int) -> list[Sequence[Sample]]:
    """Parts of the time; each begins with the last sample of the one before, from which its differences are reckoned."""
    bounds = [round(number * (len(samples) - 1) / parts) for number in range(parts + 1)]
    return [samples[start : end + 1] for start, end in zip(bounds, bounds[1:], strict=False)]


def _is_flat(first: float | None, last: float | None, allowed: float) -> bool:
    return first is not None and last is not None and last <= first + max(allowed, abs(first) * _FLAT)


def show(found: Json) -> None:
    """Prints the parts and the verdict."""
    columns = ["from_seconds", "calls", "scored", "memory_mb", "open_files", "cpu_ms_per_call"]
    columns += ["endpoint_ms", "own_ms_mean", "own_ms_p25", "own_ms_p50", "own_ms_p95"]
    print("".join(f"{name:>17}" for name in columns))
    for part in [*found["parts"], found["first_third"], found["last_third"]]:
        print("".join(f"{_number(part[name]):>17}" for name in columns))
    for name, flat in found["flat"].items():
        print(f"{name}: {'flat' if flat else 'NOT FLAT'}")
    print(f"memory grew by {_number(found['kb_per_conversation'])} KB for each finished conversation")


def _number(value: float | None) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.2f}"


def faults_of(share: float) -> Iterable[Fault]:
    """Faults that retries get over, so many of a hundred in all."""
    kinds = ("stale", "cut", "reset_in_body", "error_in_200", "status")
    return [Fault(kind=kind, probability=share / len(kinds)) for kind in kinds] if share else []


def main() -> int:
    """Soaks.

    Returns:
        0 if everything is flat, else 1.
    """
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--concurrency", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.5, help="seconds that the endpoint takes for each answer")
    parser.add_argument("--faults", type=float, default=0.0, help="share of the answers that are spoiled, such as 0.05")
    parser.add_argument("--output", type=Path, default=PROJECT / "results" / "soak.json", help="the figures as JSON")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        endpoint_process(seed=3, latency=args.latency, faults=faults_of(args.faults)) as url,
    ):
        asked = {"minutes": args.minutes, "concurrency": args.concurrency, "latency": args.latency}
        samples, code = soak(Path(name), url, **asked)
    found = asked | {"faults": args.faults, "exit_code": code} | judged(samples)
    show(found)
    without_turns = [{key: value for key, value in asdict(sample).items() if key != "turns_ms"} for sample in samples]
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(found | {"samples": without_turns}, indent=1) + "\n")
    print(f"written to {args.output}")
    return 0 if all(found["flat"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
