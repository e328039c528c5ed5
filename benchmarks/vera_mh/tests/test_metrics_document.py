# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The metric dictionary and the code say the same."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from gym_host.runs.attempts import AGENT_RUN_ERROR
from resources_servers.vera_mh.app import Settings
from responses_api_models.inference_provider.app import Settings as EndpointSettings
from vera_mh.metrics import UNIFORM_FIELDS, compute_metrics, key_metrics
from vera_mh.pack import VERA_MH
from vera_mh.rollout import JUDGE_FAILED, SIMULATION_FAILED
from vera_mh.statistics import DRAWS
from vera_mh.tasks import ROWS_SHA256

PROJECT = Path(__file__).parents[3]
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


def section(heading: str) -> str:
    return " ".join(DOCUMENT.split(f"## {heading}\n")[1].split("\n## ")[0].split())


def test_every_metric_has_a_formula_a_range_and_a_role():
    table = DOCUMENT.split("## The metrics")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) == len(emitted())
    for key, what, formula, _, range_, better, role in rows:
        assert what.strip(), key
        assert formula.strip(), key
        assert range_.strip(), key
        assert better.strip() in ("", "high", "low", "as above"), key
        assert role.strip() in ("score", "share", "shape", "validity", "as above"), key


def test_the_numbers_in_the_text_are_those_of_the_code():
    config = yaml.safe_load((PROJECT / "resources_servers/vera_mh/configs/vera_mh.yaml").read_text())
    simulators = config["vera_mh_agent"]["responses_api_agents"]["vera_mh_agent"]["user_simulators"]
    ceilings = {name: simulator["responses_create_params"] for name, simulator in simulators.items()}
    assert ceilings == {"gpt-5.2": {}, "claude-opus-4-5": {"max_output_tokens": 1024}}
    differ, failures = section("Where we differ"), section("Failures")
    assert "capped at 1024 output tokens" in differ
    assert f"up to {Settings.model_fields['judge_parse_retries'].default} times for each question" in differ
    assert Settings.model_fields["judge_request"].get_default(call_default_factory=True) == {"reasoning_effort": "low"}
    assert f"tried up to {EndpointSettings.model_fields['max_attempts'].default} times" in failures
    assert f"up to {EndpointSettings.model_fields['retry_after_cap_seconds'].default:g} seconds" in failures
    assert f"{DRAWS:,} seeded bootstrap draws" in DOCUMENT


def test_what_the_rows_were_rated_by_is_named_in_full():
    (listed,) = re.findall(r"^\| `measure` \| what the rows were rated by: (.*) \|$", DOCUMENT, flags=re.MULTILINE)
    assert listed == ", ".join(f"`{field}`" for field in UNIFORM_FIELDS)


def test_every_class_of_failure_is_explained():
    classes = re.findall(r"^\| `(\w+)` \|", DOCUMENT.split("## Failures")[1].split("\n## ")[0], flags=re.MULTILINE)
    assert set(classes) == {JUDGE_FAILED, SIMULATION_FAILED, AGENT_RUN_ERROR}
