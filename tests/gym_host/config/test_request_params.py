# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a model."""

from __future__ import annotations

from typing import Any

import pytest

from gym_host.config.interpolation import MISSING
from gym_host.config.request_params import param_faults
from tests.support.configurations import AGENT, Folder

SYSTEM = {"role": "system", "content": "You are Clinic."}


@pytest.mark.parametrize(
    ("params", "said", "mend"),
    [
        ({"temprature": 0}, "there is no parameter `temprature`", "did you mean `temperature`?"),
        ({"max_output_token": 9}, "there is no parameter `max_output_token`", "did you mean `max_output_tokens`?"),
        ({"quux": 9}, "there is no parameter `quux`", "goes into `extra_body` of its model server"),
        ({"temperature": "hot"}, "the parameter `temperature` is wrong: Input should be a valid number", None),
        ({"temperature": "0.3"}, "Input should be a valid number", "${oc.decode:${oc.env:NAME}}"),
        ({"user": 123}, "the parameter `user` is wrong", "put it in quotes: '\"123\"'"),
        ({"temperature": True}, "the parameter `temperature` is wrong", None),
        ({"max_output_tokens": 1.5}, "the parameter `max_output_tokens` is wrong", None),
        ({"reasoning": "low"}, "the parameter `reasoning` is wrong", None),
        ({"tools": [1]}, "the parameter `tools` is wrong", None),
        ({"stop": 1}, "the parameter `stop` is wrong", None),
        ({"input": 5}, "the parameter `input` is wrong: it must be a text or a list of messages", None),
        ({"input": ["hello"]}, "item 0 is no message", None),
        ({"input": [SYSTEM, {**SYSTEM, "role": "sytem"}]}, "item 1 has the role 'sytem'; did you mean 'system'?", None),
        ({"input": [{"role": 5, "content": ""}]}, "item 0 has the role 5; known are assistant, developer, system, user", None),
        ({"input": [{"role": "system"}]}, "item 0 has no content", None),
        ("temperature", "`responses_create_params` must be a mapping", None),
    ],
)
def test_what_no_model_could_make_sense_of_is_named_once_with_its_place(params: Any, said: str, mend: str | None):
    (fault,) = param_faults(params, "here")
    assert said in fault.what
    assert (fault.where or "").startswith("here")
    assert mend is None or mend in (fault.mend or "")


def test_every_wrong_parameter_is_named_and_each_once():
    faults = param_faults({"stop": 1, "temprature": 0, "top_p": "all", "seed": 1})
    assert [(fault.where or "").split(" = ")[0] for fault in faults] == [
        f"responses_create_params.{name}" for name in ("top_p", "stop", "temprature")
    ]


@pytest.mark.parametrize(
    "params",
    [
        {},
        None,
        {"input": "You are Clinic."},
        {"input": [SYSTEM, {"type": "function_call", "name": "f"}, {"role": "user", "content": [{"type": "input_text"}]}]},
        {"temperature": 0, "top_p": 0.5, "seed": 7, "stop": ["a"], "reasoning": {"effort": "low"}, "metadata": None},
        {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20, "logprobs": True, "n": 1},
        {"temperature": MISSING, "max_output_tokens": MISSING},
        MISSING,
    ],
)
def test_what_a_model_may_be_asked_is_no_fault(params: Any):
    assert param_faults(params) == []


def test_the_parameters_that_a_configuration_sets_are_looked_at_wherever_they_stand(folder: Folder):
    folder.put(
        "mine.yaml",
        AGENT.replace("max_turns: 5", "sides: [{responses_create_params: {temprature: '${my}'}}]")
        + "my: 1\nresponses_create_params: {top_p: all}\npolicy_base_url: http://h/v1\npolicy_model_name: m",
    )
    assert [fault.where for fault in folder.load("mine.yaml").faults] == [
        "talker.responses_api_agents.agent.sides.0.responses_create_params.temprature",
        "responses_create_params.top_p = 'all'",
    ]
