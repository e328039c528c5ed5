# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The example data that an environment carries: rows to try it on, with the rollouts and metrics that came of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

ROWS = "example.jsonl"
ROLLOUTS = "example_rollouts.jsonl"
METRICS = "example_metrics.json"


def check_example_data(folder: Path) -> list[str]:
    """What is wrong with the example data of an environment.

    Args:
        folder: The folder of its resources server, with `data/`.

    Returns:
        A sentence for each fault; none if `example*.jsonl` hold rows with `responses_create_params`, there is a rollout with a
        reward for each row of `example.jsonl`, and there are metrics.
    """
    data = folder / "data"
    missing = [f"{data / name} is missing" for name in (ROWS, ROLLOUTS, METRICS) if not (data / name).is_file()]
    faults, counts = [], {}
    for path in sorted(data.glob("example*.jsonl")):
        counts[path.name], found = _check_rows(path, rollouts=path.name.endswith("_rollouts.jsonl"))
        faults += found
    if not missing and not faults and counts[ROWS] != counts[ROLLOUTS]:
        faults.append(f"{data / ROWS} has {counts[ROWS]} rows, and {data / ROLLOUTS} {counts[ROLLOUTS]}")
    if (data / METRICS).is_file():
        faults += _check_metrics(data / METRICS)
    return missing + faults


def _check_rows(path: Path, *, rollouts: bool) -> tuple[int, list[str]]:
    """How many rows a file has, and what is wrong with them."""
    faults, count = [], 0
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            count += 1
            fault = _row_fault(line, rollout=rollouts)
            faults += [f"{path}, line {number}: {fault}"] if fault else []
    return count, faults or ([] if count else [f"{path} has no rows"])


def _row_fault(line: bytes, *, rollout: bool) -> str | None:
    try:
        row: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return f"is no JSON: {error}"
    if not isinstance(row, dict):
        return "is no JSON object"
    params = row.get("responses_create_params")
    if not isinstance(params, dict) or "input" not in params:
        return "lacks `responses_create_params` with `input`"
    reward = row.get("reward")
    if rollout and (isinstance(reward, bool) or not isinstance(reward, int | float)):
        return "is a rollout without a `reward`"
    return None


def _check_metrics(path: Path) -> list[str]:
    try:
        metrics = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        return [f"{path} is no JSON: {error}"]
    return [] if isinstance(metrics, dict | list) and metrics else [f"{path} holds no metrics"]
