# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run: its files, what they inherit, and its servers."""

from __future__ import annotations

import pytest

from gym_host.errors import ConfigError
from tests.support.configurations import POLICY, Folder

# Files


def test_the_including_file_wins_over_the_included_one_and_a_later_sibling_over_an_earlier(folder: Folder):
    folder.put("deep.yaml", "a: deep\nb: deep\nc: deep\nd: deep")
    folder.put("left.yaml", "config_paths: [deep.yaml]\nb: left\nc: left\nd: left")
    folder.put("right.yaml", "c: right\nd: right")
    folder.put("top.yaml", "config_paths: [left.yaml, right.yaml]\nd: top")
    config = folder.load("top.yaml")
    assert config.values == {"a": "deep", "b": "left", "c": "right", "d": "top"}
    assert [path.name for path in config.sources] == ["deep.yaml", "left.yaml", "right.yaml", "top.yaml"]


def test_a_file_that_is_included_twice_is_merged_once_below_both(folder: Folder):
    folder.put("base.yaml", "a: base")
    folder.put("left.yaml", "config_paths: [base.yaml]\na: left")
    folder.put("right.yaml", "config_paths: [./base.yaml]")
    assert folder.values("left.yaml", "right.yaml") == {"a": "left"}


def test_an_included_path_starts_from_a_root_or_else_from_the_including_file(folder: Folder):
    folder.put("sub/near.yaml", "a: near")
    folder.put("sub/both.yaml", "b: beside")
    folder.put("both.yaml", "b: root")
    folder.put("sub/top.yaml", "config_paths: [near.yaml, both.yaml]")
    assert folder.values("sub/top.yaml") == {"a": "near", "b": "root"}


def test_files_that_include_each_other_are_an_error_that_shows_the_circle(folder: Folder):
    folder.put("a.yaml", "config_paths: [b.yaml]")
    folder.put("b.yaml", "config_paths: [a.yaml]")
    fault = folder.fault("a.yaml")
    assert "circle" in fault
    assert fault.count("a.yaml") == 2


def test_a_missing_included_file_names_the_including_one(folder: Folder):
    path = folder.put("top.yaml", "config_paths: [gone.yaml]")
    fault = folder.fault("top.yaml")
    assert "there is no file `gone.yaml`" in fault
    assert str(path) in fault


def test_a_missing_file_is_named_in_three_lines(folder: Folder):
    fault = folder.fault("gone.yaml")
    assert "`gone.yaml`" in fault
    assert fault.count("\n") <= 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "line 3, column 2"),
        ("a: 1\nb: 2\na: 3\n", "found duplicate key a"),
        ("a: !!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        ("a:\tb\n  c: d", "malformed YAML"),
        ("- a\n- b\n", "must be a mapping"),
        ("a: ${b\n", "key a"),
        ("config_paths: one.yaml\n", "must be a list of paths"),
        ("config_paths: [{a: b}]\n", "must be a list of paths"),
        ("a: \0b", "malformed YAML"),
    ],
)
def test_a_malformed_file_is_told_with_its_place(folder: Folder, text: str, told: str):
    path = folder.put("bad.yaml", text)
    fault = folder.fault("bad.yaml")
    assert told in fault
    assert str(path) in fault
    assert fault.count("\n") <= 2


def test_what_is_no_text_file_is_told(folder: Folder):
    (folder.path / "bytes.yaml").write_bytes(b"a: \xff\xfe\x80")
    (folder.path / "dir.yaml").mkdir()
    assert "bytes.yaml" in folder.fault("bytes.yaml")
    assert "cannot be read" in folder.fault("dir.yaml")


def test_a_list_and_a_mapping_for_the_same_key_name_it_and_the_file(folder: Folder):
    folder.put("one.yaml", "x: {y: 1, a: [1]}")
    path = folder.put("two.yaml", "x: {y: 2, a: {b: 1}}")
    fault = folder.fault("one.yaml", "two.yaml")
    assert "`x.a` is a list in one file and a mapping in another" in fault
    assert str(path) in fault


def test_an_empty_file_and_no_file_at_all_are_empty_configurations(folder: Folder):
    folder.put("empty.yaml", "")
    assert folder.values("empty.yaml") == folder.values() == {}


# env.yaml


def test_env_yaml_wins_over_the_files_and_loses_against_flags_and_overrides(folder: Folder):
    folder.put("top.yaml", "a: file\nb: file\nc: file\nd: file")
    local = folder.put("env.yaml", "b: env\nc: env\nd: env")
    config = folder.load("top.yaml", overrides=("d=override",), flags={"c": "flag", "d": "flag"})
    assert config.values == {"a": "file", "b": "env", "c": "flag", "d": "override"}
    assert config.sources[-1] == local


def test_env_yaml_may_list_the_files_and_the_command_line_replaces_that_list(folder: Folder):
    folder.put("one.yaml", "one: 1")
    folder.put("two.yaml", "two: 2")
    folder.put("env.yaml", "config_paths: [one.yaml]\nkey: k")
    assert folder.values() == {"one": 1, "key": "k"}
    assert folder.values("two.yaml") == {"two": 2, "key": "k"}
    assert folder.values(overrides=("+config_paths=[two.yaml]",)) == {"two": 2, "key": "k"}


def test_a_list_of_files_in_an_override_must_be_a_list(folder: Folder):
    assert "must be a list of paths" in folder.fault(overrides=("+config_paths=two.yaml",))


def test_a_malformed_env_yaml_is_told_without_what_it_holds(folder: Folder):
    folder.put("env.yaml", "policy_api_key: 'hunter2hunter2\n")
    fault = folder.fault()
    assert "env.yaml" in fault
    assert "hunter2" not in fault


# Inheritance


@pytest.mark.parametrize("word", ["_inherit_from", "_copy"])
def test_an_instance_starts_from_another_one_and_leaves_that_as_it_is(agent: Folder, word: str):
    agent.put(
        "benchmark.yaml",
        f"config_paths: [agent.yaml]\nmine: {{{word}: talker, responses_api_agents: {{agent: {{max_turns: 9}}}}}}",
    )
    values = agent.values("benchmark.yaml", flags=POLICY)
    theirs = values["talker"]["responses_api_agents"]["agent"]
    assert theirs["max_turns"] == 5
    assert values["mine"]["responses_api_agents"]["agent"] == {**theirs, "max_turns": 9}


def test_inheritance_goes_through_several_instances_in_any_order(folder: Folder):
    folder.put("c.yaml", "c: {_inherit_from: b, z: 3}\nb: {_inherit_from: a, y: 2}\na: {x: 1, y: 1, z: 1, l: [1, 2]}")
    assert folder.values("c.yaml")["c"] == {"x": 1, "y": 2, "z": 3, "l": [1, 2]}


def test_interpolations_in_an_inherited_block_keep_working(folder: Folder):
    folder.put("c.yaml", "a: {own: 1, same: '${.own}', far: '${name}'}\nb: {_inherit_from: a, own: 2}\nname: n")
    assert folder.values("c.yaml")["b"] == {"own": 2, "same": 2, "far": "n"}


def test_an_inherited_name_that_no_file_defines_is_answered_with_the_nearest(folder: Folder):
    folder.put("c.yaml", "talker: {x: 1}\nmine: {_inherit_from: talkr}")
    fault = folder.fault("c.yaml")
    assert "`mine` inherits from `talkr`" in fault
    assert "did you mean `talker`?" in fault


@pytest.mark.parametrize("text", ["a: {_inherit_from: a}", "a: {_inherit_from: b}\nb: {_inherit_from: c}\nc: {_inherit_from: a}"])
def test_instances_that_inherit_from_each_other_are_an_error(folder: Folder, text: str):
    folder.put("c.yaml", text)
    assert "inherit from each other in a circle" in folder.fault("c.yaml")


def test_a_list_in_place_of_an_inherited_mapping_is_an_error(folder: Folder):
    folder.put("c.yaml", "a: {x: {y: 1}}\nb: {_inherit_from: a, x: [1]}")
    assert "`x` is a list in one of `b` and `a`" in folder.fault("c.yaml")


# Instances


def test_instances_are_those_that_we_have_and_the_others_are_skipped(agent: Folder):
    agent.put(
        "more.yaml",
        "config_paths: [agent.yaml]\n"
        "front: {environment_servers: {legacy_agent: {agent_server: {type: responses_api_agents, name: talker}}}}\n"
        "local: {responses_api_models: {local_vllm: {}}}\n"
        "future: {future_servers: {thing: {}}}\n"
        "head_server: {host: h, port: 1}\nlogging: {level: {}}\nseed: 1",
    )
    config = agent.load("more.yaml", flags=POLICY)
    served = {instance.name: instance for instance in config.instances(agent.components)}
    assert list(served) == ["verifier", "talker", "policy_model"]
    assert served["talker"].place == "talker.responses_api_agents.agent"
    assert served["talker"].app == agent.path / "responses_api_agents/agent/app.py"
    assert served["policy_model"].settings == {"base_url": "http://localhost:8000/v1", "model": "m"}
    assert [instance.name for instance in config.skipped(agent.components)] == ["front", "local", "future"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("m: {responses_api_models: {one: {}, two: {}}}", "~m.responses_api_models.one"),
        ("m: {responses_api_models: {one: {}}, temperature: 1}", "`m` has `temperature` beside `responses_api_models`"),
        ("m: {responses_api_models: null}", "`m` is not a server"),
        ("m: {responses_api_models: {one: 5}}", "`m` is not a server"),
    ],
)
def test_an_entry_with_the_type_but_not_the_shape_of_a_server_is_an_error(folder: Folder, text: str, told: str):
    folder.put("c.yaml", text)
    with pytest.raises(ConfigError) as caught:
        folder.load("c.yaml").instances(folder.components)
    assert told in str(caught.value)


def test_the_datasets_of_an_agent_are_listed(agent: Folder):
    agent.put(
        "more.yaml",
        "config_paths: [agent.yaml]\ntalker: {responses_api_agents: {agent: {datasets: [{name: d, type: benchmark}]}}}",
    )
    config = agent.load("more.yaml", flags=POLICY)
    assert config.datasets("talker") == [{"name": "d", "type": "benchmark"}]
    assert agent.load("agent.yaml", flags=POLICY).datasets("talker") == []
    with pytest.raises(ConfigError, match="there is no agent `talkr`") as caught:
        config.datasets("talkr")
    assert "did you mean `talker`?" in str(caught.value.mend)


def test_datasets_must_be_a_list_of_mappings(folder: Folder):
    folder.put("c.yaml", "t: {responses_api_agents: {agent: {datasets: [one]}}}")
    with pytest.raises(ConfigError, match="`datasets` must be a list of mappings"):
        folder.load("c.yaml").datasets("t")


def test_a_configuration_does_not_show_its_values_by_accident(folder: Folder):
    config = folder.load(flags={"api_key": "planted", "m.responses_api_models.provider.api_key": "planted"})
    folder.put("responses_api_models/provider/app.py", "")
    assert "planted" not in f"{config!r} {config.instances(folder.components)!r}"
