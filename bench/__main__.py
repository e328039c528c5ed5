# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`make bench`: everything in one run, as a table and as JSON.

python -m bench [--quick] [--nemo-gym] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.aggregation import aggregate, load, write_rollouts
from bench.chain import PROJECT, Cost, run_in_process, run_on_ports, write_rows
from bench.nemo_gym import installed, run_under_nemo_gym
from tests.support.endpoint import endpoint_process

Json = dict[str, Any]
HEAD_PORT = 11_900


def clients(url: str, calls: int, repeats: int) -> Json:
    """CPU per call and calls per second of each client, medians."""
    found: Json = {}
    for kind in ("bare", "httpx", "openai"):
        runs = [_client(kind, url, calls) for _ in range(repeats)]
        found[kind] = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    return found


def _client(kind: str, url: str, calls: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.clients", kind, url, str(calls), "64"]
    answer: dict[str, float] = json.loads(subprocess.run(command, cwd=PROJECT, check=True, capture_output=True).stdout)
    return answer


def chain(url: str, folder: Path, conversations: int) -> Json:
    """The whole chain without latency, in one process and on ports; start-up is measured by a single row and taken off."""
    rows = write_rows(folder / "rows.jsonl", conversations, max_turns=30)
    output = folder / "chain.jsonl"
    one = run_in_process(url, write_rows(folder / "one.jsonl", 1, max_turns=2), output, concurrency=1)
    many = run_in_process(url, rows, output, concurrency=conversations)
    ahead = run_in_process(url, rows, output, "vera_mh.resources_servers.vera_mh.judge_speculation=on", concurrency=conversations)
    ports = run_on_ports(url, rows, output, concurrency=conversations, head_port=HEAD_PORT)
    return {
        "start_up_seconds": one.wall_seconds,
        "one process": _per_call(many, one),
        "one process, asking ahead": _per_call(ahead, one),
        "on ports": _per_call(ports, one),
    }


def under_nemo_gym(environment: Path, url: str, folder: Path, conversations: int) -> Json:
    """The same servers under NVIDIA's host.

    The start of our servers is measured by a single row and taken off. That of the host, tens of seconds, differs by more from
    run to run than all calls take, so what the host takes is told as a whole.
    """
    row = write_rows(folder / "one.jsonl", 1, max_turns=2)
    rows = write_rows(folder / "rows.jsonl", conversations, max_turns=30)
    start, ours_at_start = run_under_nemo_gym(environment, url, row, folder / "nemo_gym_one.jsonl", concurrency=1)
    cost, ours = run_under_nemo_gym(environment, url, rows, folder / "nemo_gym.jsonl", concurrency=conversations)
    return {
        "calls": cost.calls,
        "cpu_ms_per_call_of_our_servers": 1000 * (ours - ours_at_start) / cost.calls,
        "peak_mb": cost.peak_mb,
        "one_row": {"wall_seconds": start.wall_seconds, "cpu_seconds": start.cpu_seconds},
        "all_rows": {"wall_seconds": cost.wall_seconds, "cpu_seconds": cost.cpu_seconds},
    }


def _per_call(cost: Cost, start: Cost) -> Json:
    return {
        "calls": cost.calls,
        "cpu_ms_per_call": 1000 * (cost.cpu_seconds - start.cpu_seconds) / cost.calls,
        "calls_per_second": cost.calls / (cost.wall_seconds - start.wall_seconds),
        "peak_mb": cost.peak_mb,
    }


def scaling(folder: Path, sizes: list[int], latency: float) -> list[Json]:
    """Conversations at once against an endpoint with latency: wall time over the sequential floor of the longest conversation."""
    found = []
    for size in sizes:
        with endpoint_process(seed=3, latency=latency, record=False) as url:
            rows = write_rows(folder / f"rows_{size}.jsonl", size, max_turns=30)
            cost = run_in_process(url, rows, folder / f"scaling_{size}.jsonl", concurrency=size)
        floor = cost.longest * latency
        found.append(
            {
                "conversations": size,
                "calls": cost.calls,
                "floor_seconds": floor,
                "wall_seconds": cost.wall_seconds,
                "wall_over_floor": cost.wall_seconds / floor,
                "peak_mb": cost.peak_mb,
            }
        )
    return found


def aggregation(folder: Path, sizes: list[int]) -> list[Json]:
    """Seconds of loading, seconds and memory of aggregating so many rollouts."""
    found = []
    for size in sizes:
        path = write_rollouts(folder / f"rollouts_{size}.jsonl", size)
        loading = load(path)
        seconds, peak = aggregate(path, folder / "merged.jsonl")
        megabytes = path.stat().st_size / 1e6
        found.append({"rollouts": size, "mb": megabytes, "loading_seconds": loading, "seconds": seconds, "peak_mb": peak})
        path.unlink()
    return found


def show(found: Json) -> None:
    """Prints the tables."""
    floor = found["clients"]["bare"]["cpu_ms_per_call"]
    print(f"{'per model call':<28}{'CPU ms':>9}{'x bare':>9}{'calls/s':>10}")
    for name, cost in (found["clients"] | found["chain"]).items():
        if isinstance(cost, dict):
            ratio = cost["cpu_ms_per_call"] / floor
            print(f"{name:<28}{cost['cpu_ms_per_call']:>9.3f}{ratio:>9.1f}{cost['calls_per_second']:>10.0f}")
    if "nemo_gym" in found:
        _show_nemo_gym(found["nemo_gym"], floor)
    print(f"\nstart-up, one row run and scored: {found['chain']['start_up_seconds']:.2f} s")
    print(f"peak memory of the whole chain in one process: {found['chain']['one process']['peak_mb']:.0f} MB")
    print(f"\n{'at once':<12}{'calls':>9}{'floor s':>10}{'wall s':>10}{'wall/floor':>12}{'peak MB':>10}")
    for row in found["scaling"]:
        numbers = (
            f"{row['floor_seconds']:>10.1f}{row['wall_seconds']:>10.1f}{row['wall_over_floor']:>12.3f}{row['peak_mb']:>10.0f}"
        )
        print(f"{row['conversations']:<12}{row['calls']:>9}{numbers}")
    print(f"\n{'rollouts':<12}{'MB':>9}{'loading s':>11}{'aggregating s':>15}{'peak MB':>10}")
    for row in found["aggregation"]:
        seconds = f"{row['loading_seconds']:>11.2f}{row['seconds']:>15.1f}"
        print(f"{row['rollouts']:<12}{row['mb']:>9.0f}{seconds}{row['peak_mb']:>10.0f}")


def _show_nemo_gym(found: Json, floor: float) -> None:
    ours = found["cpu_ms_per_call_of_our_servers"]
    print(f"{'our servers under NeMo Gym':<28}{ours:>9.3f}{ours / floor:>9.1f}{'-':>10}")
    for which, what in (("one_row", "one row"), ("all_rows", f"{found['calls']} calls")):
        taken = found[which]
        print(f"NVIDIA's whole command, {what}: {taken['wall_seconds']:.0f} s, {taken['cpu_seconds']:.0f} s of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--nemo-gym", action="store_true", help="also under NVIDIA's host, which `make interop` installs")
    parser.add_argument("--output", type=Path, default=PROJECT / "results" / "bench.json", help="the figures as JSON")
    args = parser.parse_args()
    quick, environment = args.quick, installed() if args.nemo_gym else None
    if args.nemo_gym and environment is None:
        raise SystemExit("--nemo-gym: NVIDIA NeMo Gym is not installed; run `make interop` once")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with endpoint_process(seed=3, record=False) as url:
            found: Json = {
                "machine": {"python": platform.python_version(), "system": platform.platform(terse=True)},
                "clients": clients(url, 300 if quick else 3000, 1 if quick else 3),
                "chain": chain(url, folder, 20 if quick else 200),
            }
            if environment is not None:
                found["nemo_gym"] = under_nemo_gym(environment, url, folder, 20 if quick else 200)
        found["scaling"] = scaling(folder, [1, 10] if quick else [1, 10, 100, 1000], 0.05 if quick else 1.0)
        found["aggregation"] = aggregation(folder, [100] if quick else [1_000, 10_000, 100_000])
    show(found)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(json.dumps(found, indent=2) + "\n")
    print(f"\nwritten to {args.output}")


if __name__ == "__main__":
    main()
