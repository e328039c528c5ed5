# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is found before a run is started, so that nothing else is run than what was meant."""

from __future__ import annotations

import json

import pytest

from tests.support.command import Gym
from tests.support.components import SumsRoot, read_jsonl

SUMS = ("--search-dir", "root", "--benchmark", "sums")
DEMO = ("eval", "run", "--benchmark", "vera_mh_demo", "--output", "results/x.jsonl")
MODEL_FLAGS = ("--model", "chatbot", "--model-api-key", "unused", "--model-url")


def test_a_configuration_with_a_misspelled_key_is_not_run(gym: Gym):
    path = gym.put("prompt.yaml", "responses_create_param: {input: [{role: system, content: You are Clinic.}]}")
    said = gym.refuses(*DEMO, "--config", path)
    assert "nothing reads the key `responses_create_param`" in said
    assert "did you mean `responses_create_params`?" in said
    assert "did you mean `responses_create_params.temperature`?" in gym.refuses(*DEMO, "+temprature=0")
    assert gym("env", "validate", "--benchmark", "vera_mh_demo", "--config", path).code == 2


def test_what_should_be_known_of_a_configuration_is_said_before_it_is_run_and_when_it_is_validated(gym: Gym, sums: SumsRoot):
    warning = "warning: `limit` tells NeMo Gym's host what to run, and is not read here\n  to mend it: give --limit\n"
    said = gym("eval", "run", *SUMS, "--output", "results/x.jsonl", "+limit=1")
    assert (said.code, len(read_jsonl(gym.folder / "results/x.jsonl"))) == (0, 2)
    assert said.err.startswith(warning)
    assert warning in gym("env", "validate", *SUMS, "+limit=1").out


def test_a_row_that_could_never_be_run_is_refused_before_anything_is_started(gym: Gym):
    row = {"responses_create_params": {"input": []}, "persona_system_prompt": "You are Ines.", "user_simulator": "scripted"}
    path = gym.put("rows.jsonl", json.dumps(row))
    assert "the row has no `max_turns`\n  where: rows.jsonl, line 1" in gym.refuses(*DEMO, "--input", path.name)
    path.write_text(json.dumps(row | {"max_turns": 0}))
    assert "where: rows.jsonl, line 1: max_turns = 0" in gym.refuses(*DEMO, "--input", path.name)


def test_a_prompt_of_which_the_chatbot_would_not_hear_everything_is_refused_before_anything_is_started(gym: Gym):
    for params in ("input: [{role: system, content: A}, {role: user, content: B}]", "input: A", "instructions: A"):
        path = gym.put("prompt.yaml", f"responses_create_params: {{{params}}}")
        said = gym.refuses(*DEMO, "--config", path)
        assert "the row cannot be run: responses_create_params." in said
        assert "; 7 more rows cannot be run either" in said
        assert "to mend it: repair the row, or `responses_create_params` of the configuration or the command" in said


def test_a_parameter_that_no_model_could_make_sense_of_is_refused_before_anything_is_started(gym: Gym):
    said = gym.refuses(*DEMO, "+responses_create_params.temprature=0")
    assert "there is no parameter `temprature`" in said
    assert "did you mean `temperature`?" in said
    assert "did you mean 'system'?" in gym("env", "validate", *DEMO[2:4], "+responses_create_params.input=[{role:sytem}]").out


def test_a_variable_that_is_nearly_named_like_one_that_is_read_is_warned_of(gym: Gym, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERA_MH_JUDGE_URL", "http://127.0.0.1:9/v1")
    said = gym("env", "validate", "--benchmark", "vera_mh", *MODEL_FLAGS, "http://127.0.0.1:9/v1")
    warning = "warning: no setting reads the environment variable `VERA_MH_JUDGE_URL`"
    assert f"{warning}\n  to mend it: did you mean `VERA_MH_JUDGE_BASE_URL`?\n" in said.out
    assert "  vera_mh_judge: gpt-5.4 @ api.openai.com/v1\n" in said.out
