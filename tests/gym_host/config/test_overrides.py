# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Overrides and interpolations of a configuration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from gym_host.config.components import Components
from gym_host.config.configuration import load_config
from tests.support.configurations import Folder

# Overrides


def test_overrides_follow_hydras_grammar(folder: Folder):
    folder.put("c.yaml", "a: {b: 1, c: 2, l: [1, 2, {d: 3}]}\nx: y")
    words = ("a.b=1e-3", "++a.n.m=[1,two]", "+new={k: null}", "~a.c", "a.l.2.d='4'", "~x=y")
    expected = {"a": {"b": 0.001, "l": [1, 2, {"d": "4"}], "n": {"m": [1, "two"]}}, "new": {"k": None}}
    assert folder.values("c.yaml", overrides=words) == expected


def test_an_override_of_a_key_that_is_not_there_suggests_the_key_and_how_to_add_one(agent: Folder):
    fault = agent.fault("agent.yaml", overrides=("verifier.resources_servers.judge.temprature=1",))
    assert "there is no key `verifier.resources_servers.judge.temprature`" in fault
    assert "did you mean `verifier.resources_servers.judge.temperature`?" in fault
    assert "+verifier.resources_servers.judge.temprature=..." in fault


def test_the_last_part_of_a_key_is_enough_for_a_suggestion(agent: Folder):
    assert "did you mean `verifier.resources_servers.judge.temperature`?" in agent.fault(
        "agent.yaml", overrides=("temperatur=1",)
    )


def test_a_removed_key_must_be_there_with_the_value_that_is_named(folder: Folder):
    folder.put("c.yaml", "a: 1")
    assert "there is no key `b`" in folder.fault("c.yaml", overrides=("~b",))
    assert "another value" in folder.fault("c.yaml", overrides=("~a=2",))


def test_a_key_that_an_interpolation_asks_for_may_be_set_without_a_plus(agent: Folder):
    values = agent.values("agent.yaml", overrides=("policy_base_url=http://h:1/v1", "policy_model_name=org/m:free"))
    assert values["policy_model"]["responses_api_models"]["provider"] == {"base_url": "http://h:1/v1", "model": "org/m:free"}


def test_an_override_of_an_inherited_block_reaches_those_that_inherit_it(folder: Folder):
    folder.put("c.yaml", "a: {x: 1, y: 1}\nb: {_inherit_from: a, y: 2}")
    assert folder.values("c.yaml", overrides=("a.x=7", "a.y=7"))["b"] == {"x": 7, "y": 2}


def test_what_is_only_inherited_can_be_overridden_removed_and_replaced(folder: Folder):
    folder.put("c.yaml", "a: {x: 1, y: {k: 1}, l: [1, 2, 3]}\nb: {_inherit_from: a}")
    words = ("b.x=2", "~b.y", "+b.y={j: 2}", "~b.l.0")
    assert folder.values("c.yaml", overrides=words) == {
        "a": {"x": 1, "y": {"k": 1}, "l": [1, 2, 3]},
        "b": {"x": 2, "y": {"j": 2}, "l": [2, 3]},
    }


def test_an_item_is_taken_out_of_a_list_once(folder: Folder):
    folder.put("c.yaml", "l: [1, 2, 3]")
    assert folder.values("c.yaml", overrides=("~l.0",)) == {"l": [2, 3]}


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("nonsense", "neither a flag nor a `key=value`"),
        ("a@b=1", "neither a flag nor a `key=value`"),
        ("=1", "neither a flag nor a `key=value`"),
        ("a=1,2", "quote it: \"a='1,2'\""),
        ("a=http://h/?x=1", "cannot be read"),
        ("a=${b", "cannot be"),
        ("+l.9.x=1", "cannot be set"),
    ],
)
def test_a_word_that_is_no_override_is_told(folder: Folder, word: str, told: str):
    folder.put("c.yaml", "a: 1\nl: [1]")
    fault = folder.fault("c.yaml", overrides=(word,))
    assert told in fault
    assert fault.count("\n") <= 2


def test_a_key_in_a_word_that_cannot_be_read_is_not_shown(folder: Folder):
    for word in ("+policy_api_key=sk-planted==", "+x=http://me:sk-planted@h/?x=1", "+api_key=sk-planted,2"):
        assert "planted" not in folder.fault(overrides=(word,))


# Interpolations


def test_values_come_from_other_keys_and_from_the_environment_that_was_handed_over(folder: Folder):
    folder.put(
        "c.yaml", "a: ${b}\nb: ${oc.env:HERE}\nc: ${oc.env:NOT_HERE,5}\nd: ${oc.env:NOT_HERE,null}\ne: 'x-${b}-${f.g}'\nf: {g: 1}"
    )
    values = folder.values("c.yaml", environ={"HERE": "v"})
    assert values == {"a": "v", "b": "v", "c": "5", "d": None, "e": "x-v-1", "f": {"g": 1}}


def test_the_environment_of_the_process_is_read_only_outside_of_a_load(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GYM_HOST_TEST", "process")
    folder.put("c.yaml", "a: ${oc.env:GYM_HOST_TEST,default}")
    assert folder.values("c.yaml") == {"a": "default"}
    assert OmegaConf.create("a: ${oc.env:GYM_HOST_TEST,default}\nb: ${oc.env:GYM_HOST_TEST}") == {"a": "process", "b": "process"}


@pytest.mark.parametrize("inner", ["${oc.env:GENERAL}", "${oc.env:GENERAL,???}"])
@pytest.mark.parametrize("name", ["SPECIAL", "GENERAL"])
def test_one_of_several_variables_is_enough(folder: Folder, inner: str, name: str):
    folder.put("c.yaml", f"api_key: ${{oc.env:SPECIAL,{inner}}}")
    assert folder.values("c.yaml", environ={name: "k"}) == {"api_key": "k"}


def test_a_missing_variable_names_the_key_that_needs_it_and_all_variables_that_would_do(folder: Folder):
    folder.put("c.yaml", "judge: {api_key: '${oc.env:VERA_MH_JUDGE_API_KEY,${oc.env:OPENAI_API_KEY}}'}")
    fault = folder.fault("c.yaml")
    assert "needed by judge.api_key" in fault
    assert "set the environment variable OPENAI_API_KEY, or VERA_MH_JUDGE_API_KEY" in fault
    assert fault.count("\n") <= 2


@pytest.mark.parametrize(
    ("key", "flag"), [("policy_base_url", "--model-url"), ("policy_api_key", "--model-api-key"), ("policy_model_name", "--model")]
)
def test_a_missing_key_names_the_key_that_needs_it_and_what_sets_it(folder: Folder, key: str, flag: str):
    folder.put("c.yaml", f"m: {{x: '${{{key}}}'}}")
    fault = folder.fault("c.yaml")
    assert f"`{key}` is not set" in fault
    assert "needed by m.x" in fault
    assert f"give {flag}, or {key}=..., or put it into env.yaml" in fault
    assert fault.count("\n") <= 2


def test_all_that_is_missing_is_told_at_once_and_each_thing_once(folder: Folder):
    folder.put(
        "c.yaml",
        "a: '${policy_base_url}'\nb: ['${policy_base_url}', {c: '${oc.env:NOPE}'}]\nd: ???\ne: '${d}'\nf: '${oc.env:NOPE}'",
    )
    lines = folder.fault("c.yaml").splitlines()
    assert lines[0] == "3 settings have no value:"
    assert [line.split("`")[1] for line in lines[1:]] == ["policy_base_url", "NOPE", "d"]


def test_one_missing_variable_is_said_not_to_be_set_and_what_may_be_null_is_not_missed(folder: Folder):
    folder.put("c.yaml", "a: '${oc.env:NOPE}'\nb: '${oc.env:NOPE,null}'\nc: null")
    assert folder.fault("c.yaml").splitlines()[0] == "`NOPE` is not set in the environment"


def test_a_misspelled_interpolation_is_answered_with_the_nearest_key(folder: Folder):
    folder.put("c.yaml", "judge_model: m\na: ${judge_modl}")
    assert "did you mean `judge_model`?" in folder.fault("c.yaml")


@pytest.mark.parametrize(
    "text", ["a: ${b}\nb: ${a}", "a: ${nonsense:1}", "a: ${oc.env:}", "a: ${b.c}\nb: text", "a: {x.y: '${nope}'}"]
)
def test_every_interpolation_that_leads_nowhere_is_a_config_error_that_names_its_key(folder: Folder, text: str):
    folder.put("c.yaml", text)
    assert re.search(r"(where: |needed by |`)a\b", folder.fault("c.yaml"))


def test_without_resolving_nothing_needs_to_be_set(agent: Folder):
    agent.put("more.yaml", "config_paths: [agent.yaml]\nx: ${oc.env:NOPE}\ny: ???")
    values = agent.values("more.yaml", resolve=False)
    assert values["x"] == "${oc.env:NOPE}"
    assert values["y"] == "???"


@given(text=st.text(alphabet="${}\\ab:.'\"?", max_size=30).filter(lambda text: text != "???"))
def test_a_flags_value_is_taken_as_it_stands(text: str):
    cwd = Path("/nonexistent")
    config = load_config(Components(()), (), cwd=cwd, environ={}, flags={"policy_api_key": text, "a.b": 1})
    assert config.values == {"policy_api_key": text, "a": {"b": 1}}
