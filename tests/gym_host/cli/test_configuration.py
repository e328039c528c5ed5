# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env resolve` and `gym env validate`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_host.cli.main import main

KEY = "sk-this-is-a-secret-key"
DEMO = ("--benchmark", "vera_mh_demo")
VERIFIER = "vera_mh_demo.resources_servers.vera_mh"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_configuration_is_shown_resolved_and_without_its_secrets(capsys: pytest.CaptureFixture[str]):
    words = ["env", "resolve", *DEMO, "--model", "careless", "--model-url", f"https://me:{KEY}@host/v1", "--model-api-key", KEY]
    assert main(words) == 0
    printed = capsys.readouterr().out
    values = yaml.safe_load(printed)
    assert values["policy_model"]["responses_api_models"]["scripted_model"]["script"].endswith("careless.yaml")
    assert values["policy_api_key"] == "****"
    assert KEY not in printed
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == values


def test_a_configuration_that_cannot_be_resolved_says_what_is_missing(capsys: pytest.CaptureFixture[str]):
    assert main(["env", "resolve", "--benchmark", "vera_mh"]) == 2
    assert "`policy_model_name` is not set" in capsys.readouterr().err


def test_a_configuration_without_fault_is_ok_and_says_what_is_left_out(capsys: pytest.CaptureFixture[str]):
    assert main(["env", "validate", *DEMO]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:6] == [
        "models that are asked:",
        "  policy_model: careful @ scripted_model",
        "  vera_mh_demo_user: demo-persona @ scripted_model",
        "  vera_mh_demo_judge: demo-judge @ scripted_model",
        "left out, since this host has no such server:",
        "  vera_mh_demo_environment_server  environment_servers/legacy_agent",
    ]
    assert re.fullmatch(r"ok: 5 servers, \d datasets?, 1 left out", lines[6])


def test_every_fault_is_printed_with_its_place_and_how_to_mend_it(capsys: pytest.CaptureFixture[str]):
    assert main(["env", "validate", *DEMO, f"+{VERIFIER}.judge_parse_retires=3", "policy_model_name=carefull"]) == 2
    printed = capsys.readouterr().out
    assert "error: there is no setting `judge_parse_retires`\n" in printed
    assert f"  where: {VERIFIER}.judge_parse_retires\n" in printed
    assert "did you mean `judge_parse_retries`?" in printed
    assert "there is no script `carefull`; did you mean `careful`?" in printed
    assert "\n2 faults: 5 servers, " in printed


def test_unset_variables_are_faults_and_nothing_else_is_said_of_what_needs_them(capsys: pytest.CaptureFixture[str]):
    assert main(["env", "validate", "--benchmark", "vera_mh", "--json"]) == 2
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["ok"] is False
    assert len(found["faults"]) == 6, found["faults"]
    assert all("set" in fault["what"] for fault in found["faults"])
    assert "set the environment variable OPENAI_API_KEY" in found["faults"][0]["mend"]
    assert {"name": "vera_mh", "type": "resources_servers", "folder": "vera_mh"} in found["servers"]
    assert "vera_mh_recommended" in {dataset["name"] for dataset in found["datasets"]}


def test_a_configuration_that_cannot_even_be_read_is_one_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "broken.yaml").write_text("a: [1, 2\nb: 3\n")
    assert main(["env", "validate", "--config", "broken.yaml"]) == 2
    printed = capsys.readouterr().out
    assert "error: malformed YAML" in printed
    assert "broken.yaml, line 2" in printed
    assert main(["env", "validate", "--benchmark", "vera_mh_dmo", "--json"]) == 2
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert "did you mean `vera_mh_demo`?" in fault["mend"]
