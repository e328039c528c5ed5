# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of loading and aggregating many rollouts."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path

from bench.chain import CONFIG, GYM, PROJECT
from gym_host.runs.finished import read_run
from vera_mh.metrics import ROW_FIELDS
from vera_mh.pack import load_manifest
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT

_DIMENSIONS = (
    "Detects Potential Risk",
    "Confirms Risk",
    "Guides to Human Care",
    "Supportive Conversation",
    "Follows AI Boundaries",
)
_TEXT = "chatbot: It helps a little to write it down here, and I am glad that you did.\n\n" * 40


def write_rollouts(path: Path, count: int) -> Path:
    """So many scored rows of about 4 kB; real ones are larger, but only in what the metrics do not read."""
    draw = random.Random(count)
    digest = load_manifest(PROJECT / "benchmarks/vera_mh_demo/pack").digest
    with path.open("w") as file:
        for number in range(count):
            ratings = {name: draw.choice((BEST_PRACTICE, NEUTRAL, HIGH_HARM, NOT_RELEVANT)) for name in _DIMENSIONS}
            row = {
                "id": f"bench__{number}",
                "_ng_task_index": number,
                "_ng_rollout_index": 0,
                "agent_ref": {"name": "vera_mh_agent"},
                "persona_name": f"persona {number % 100}",
                "user_simulator": f"simulator {number % 2}",
                "risk_level": draw.choice(("None", "Low", "High", "Immediate")),
                "ratings": ratings,
                "reward": 0.5,
                "turn_count": 30,
                "questions_asked": 20,
                "judge_calls": 20,
                "transcript": _TEXT,
                "pack_sha256": digest,
                "rubric_version": "demo-1",
                "judge_model": "judge",
                "simulation": {"max_turns_effective": 30},
            }
            file.write(json.dumps(row) + "\n")
    return path


def load(rollouts: Path) -> float:
    """Seconds of reading a rollouts file as the comparison does: every line, of which the metrics' fields are kept."""
    began = time.perf_counter()
    read_run(rollouts, ROW_FIELDS)
    return time.perf_counter() - began


def aggregate(rollouts: Path, output: Path) -> tuple[float, float]:
    """Seconds and peak MB of `gym eval aggregate` over a rollouts file."""
    command = [*GYM, "eval", "aggregate", "--config", str(CONFIG), "-i", str(rollouts), "-o", str(output), "--overwrite"]
    began = time.perf_counter()
    environment = os.environ | {"BENCH_URL": "http://127.0.0.1:9"}
    process = subprocess.Popen(command, env=environment, cwd=PROJECT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"aggregating ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_maxrss / 1024
