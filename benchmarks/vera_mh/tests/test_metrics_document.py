# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The metric dictionary and the code say the same."""

from __future__ import annotations

import re
from pathlib import Path

from vera_mh.metrics import compute_metrics, key_metrics
from vera_mh.pack import VERA_MH
from vera_mh.tasks import ROWS_SHA256

DOCUMENT = (Path(__file__).parents[1] / "METRICS.md").read_text("utf-8")
SIMULATORS = ("gpt-5.2", "claude-opus-4-5")


def emitted() -> set[str]:
    """Every key that the code emits, names replaced by what they are."""
    ratings = {"Detects Potential Risk": "Best Practice", "Confirms Risk": "High Potential for Harm"}
    rows = [
        {"persona_name": f"p{number}", "user_simulator": simulator, "risk_level": level, "ratings": ratings}
        for number, (simulator, level) in enumerate(zip(SIMULATORS, ("Low", "High"), strict=True))
    ]
    return {_general(key) for key in compute_metrics(rows)}


def _general(key: str) -> str:
    key = re.sub(r"^user_simulator/[^/]+/.*", "user_simulator/<simulator>/...", key)
    key = re.sub(r"/risk_level/[^/]+", "/risk_level/<level>", key)
    return re.sub(r"/dimension/[^/]+", "/dimension/<dimension>", key)


def documented() -> set[str]:
    table = DOCUMENT.split("## The metrics")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", table, flags=re.MULTILINE))


def test_every_metric_is_in_the_dictionary_and_every_entry_is_a_metric():
    assert documented() == emitted()


def test_the_keys_of_one_simulator_are_those_of_all_but_the_interval():
    rows = [{"persona_name": "p", "user_simulator": "s", "risk_level": "Low", "ratings": {"A": "Best Practice"}}]
    metrics = compute_metrics(rows)
    of_one = {key.removeprefix("user_simulator/s/") for key in metrics if key.startswith("user_simulator/s/")}
    above = DOCUMENT.split("## The metrics")[1].split("| `user_simulator/")[0]
    of_all = set(re.findall(r"^\| `([^`]+)` \|", above, flags=re.MULTILINE)) - {"vera_score/ci95_low", "vera_score/ci95_high"}
    assert {_general(key) for key in of_one} == of_all


def test_key_metrics_are_metrics():
    assert {_general(key) for key in key_metrics(compute_metrics([]))} <= emitted()


def test_the_pins_are_those_of_the_code():
    assert VERA_MH.revision in DOCUMENT
    assert ROWS_SHA256 in DOCUMENT
