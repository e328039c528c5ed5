# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Top-level keys that nothing reads."""

from __future__ import annotations

import pytest

from gym_host.config.configuration import Config
from tests.support.configurations import AGENT, Folder


def said(config: Config) -> list[str]:
    return [f"{fault.what}, {fault.where}, {fault.mend}" for fault in config.faults]


def load(folder: Folder, text: str, *overrides: str) -> Config:
    folder.put("mine.yaml", AGENT + text)
    return folder.load("mine.yaml", overrides=overrides, resolve=False)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("responses_create_param", "responses_create_params"),
        ("temprature", "responses_create_params.temperature"),
        ("temperature", "responses_create_params.temperature"),
        ("policy_modle_name", "policy_model_name"),
        ("verfier", "verifier"),
    ],
)
def test_a_key_that_nothing_reads_is_a_fault_that_names_the_key_that_was_meant(folder: Folder, key: str, meant: str):
    place = folder.path / "mine.yaml"
    assert said(load(folder, f"{key}: 0")) == [f"nothing reads the key `{key}`, {place}, did you mean `{meant}`?"]
    assert said(load(folder, "", f"+{key}=0")) == [f"nothing reads the key `{key}`, command line, did you mean `{meant}`?"]


def test_a_block_that_is_shaped_like_a_server_and_is_none_is_a_key_too(folder: Folder):
    (fault,) = load(folder, "responses_create_param: {text: {format: {type: json_object}}}").faults
    assert fault.mend == "did you mean `responses_create_params`?"


@pytest.mark.parametrize(
    "text",
    [
        "my_name: x\nverifier2: {resources_servers: {judge: {entrypoint: app.py, model: 'a-${my_name}-b'}}}",
        "mine: {model: x}\nverifier2: {resources_servers: {judge: {entrypoint: app.py, model: '${mine.model}'}}}",
        "mine: x\nverifier2: {resources_servers: {judge: {model: '${oc.env:NO_SUCH_VARIABLE,${mine}}'}}}",
        "policy_api_key: unused\nresponses_create_params: {temperature: 0}",
        "head_server: {port: 11000}\nuv_venv_dir: /venvs\nglobal_aiohttp_connector_limit: 9",
        "later: {servers_of_another_kind: {folder: {entrypoint: app.py}}}",
        "x-common: &common {entrypoint: app.py}\n_mine: 1\nverifier2: {resources_servers: {judge: {<<: *common}}}",
        "temprature: null",
    ],
)
def test_a_key_that_something_refers_to_or_that_a_host_knows_is_no_fault(folder: Folder, text: str):
    config = load(folder, text)
    assert (config.faults, config.warnings) == ((), ())


def test_what_is_read_only_by_a_server_that_is_left_out_is_read(folder: Folder):
    folder.put("mine.yaml", AGENT + "my_model: m\nother: {responses_api_models: {provider: {model: '${my_model}'}}}")
    assert folder.load("mine.yaml", resolve=False, drop=["other"]).faults == ()


def test_env_yaml_may_hold_what_other_configurations_read_and_is_warned_of_where_it_looks_misspelled(
    folder: Folder,
):
    path = folder.put("env.yaml", "judge_base_url: http://judge/v1\nsome_api_key: k\nresponses_create_param: {temperature: 0}")
    config = load(folder, "")
    assert config.faults == ()
    assert [(warning.where, warning.mend) for warning in config.warnings] == [
        (str(path), "did you mean `responses_create_params`?")
    ]


def test_a_key_that_tells_another_host_what_to_run_is_warned_of_with_the_flag_that_does_so_here(folder: Folder):
    (warning,) = load(folder, "", "+limit=4").warnings
    assert (warning.what, warning.mend) == ("`limit` tells NeMo Gym's host what to run, and is not read here", "give --limit")


def test_an_override_of_a_key_that_nothing_would_read_is_not_told_to_add_it(folder: Folder):
    folder.put("mine.yaml", AGENT)
    fault = folder.fault("mine.yaml", overrides=("max_output_token=5",))
    assert "did you mean `responses_create_params.max_output_tokens`?" in fault
    assert "+max_output_token" not in fault
    assert "+responses_create_params.temperature=..." in folder.fault(
        "mine.yaml", overrides=("responses_create_params.temperature=0",)
    )
