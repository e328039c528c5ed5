# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""References of one server to another."""

from __future__ import annotations

import pytest

from gym_host.config.references import check_references, needed_only_by
from tests.support.configurations import POLICY, Folder


def faults(folder: Folder, text: str) -> list[str]:
    folder.put("references.yaml", f"config_paths: [agent.yaml]\n{text}")
    return [str(fault) for fault in check_references(folder.load("references.yaml", flags=POLICY), folder.components)]


def test_references_that_name_servers_are_fine(agent: Folder):
    assert faults(agent, "") == []


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        (
            "verifier: {resources_servers: {judge: {judge: {type: responses_api_models, name: policy_modl}}}}",
            ".judge.name",
            "`policy_model`",
        ),
        (
            "verifier: {resources_servers: {judge: {users: [{type: responses_api_models, name: x}]}}}",
            ".users.0.name",
            "known: policy_model",
        ),
        (
            "verifier: {resources_servers: {judge: {j: {type: responses_api_models, name: talker}}}}",
            ".j",
            "type: responses_api_agents",
        ),
        (
            "verifier: {resources_servers: {judge: {j: {type: response_api_models, name: talker}}}}",
            ".j.type",
            "`responses_api_models`",
        ),
    ],
)
def test_a_reference_that_leads_nowhere_names_its_place_and_what_was_meant(agent: Folder, text: str, place: str, told: str):
    (fault,) = faults(agent, text)
    assert f"verifier.resources_servers.judge{place}" in fault
    assert told in fault
    assert fault.count("\n") <= 2


def test_a_missing_policy_model_is_answered_with_the_flag_that_gives_one(agent: Folder):
    config = agent.load("agent.yaml", overrides=("~policy_model",))
    (fault,) = check_references(config)
    assert "--model-type" in str(fault)


def test_a_server_that_we_run_must_not_need_one_that_we_skip(agent: Folder):
    text = (
        "lone: {responses_api_models: {local_vllm: {}}}\n"
        "verifier: {resources_servers: {judge: {model: {type: responses_api_models, name: lone}}}}\n"
        "front: {environment_servers: {relay: {model: {type: responses_api_models, name: lone}}}}"
    )
    (fault,) = faults(agent, text)
    assert "`lone` runs `local_vllm`, which is not among our components" in fault
    assert check_references(agent.load("references.yaml", flags=POLICY)) == []


def test_other_mappings_with_a_type_and_a_name_are_no_references(agent: Folder):
    text = "verifier: {resources_servers: {judge: {tool: {type: function, name: f}, data: [{name: d, type: benchmark}]}}}"
    assert faults(agent, text) == []


def test_what_only_one_server_needs_is_told_from_what_others_need_too(agent: Folder):
    agent.put(
        "own.yaml",
        "config_paths: [agent.yaml]\n"
        "verifier: {resources_servers: {judge: {model: {type: responses_api_models, name: judging}}}}\n"
        "judging: {responses_api_models: {provider: {}}}",
    )
    config = agent.load("own.yaml", flags=POLICY)
    assert needed_only_by(config, "verifier", beneath="talker") == {"verifier", "judging"}
    assert needed_only_by(config, None, beneath="talker") == set()
    shared = agent.load("own.yaml", flags=POLICY, overrides=("verifier.resources_servers.judge.model.name=policy_model",))
    assert needed_only_by(shared, "verifier", beneath="talker") == {"verifier"}
