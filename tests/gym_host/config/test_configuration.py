# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from gym_host.config.components import Components
from gym_host.config.configuration import Config, load_config
from gym_host.config.references import check_references
from gym_host.errors import ConfigError

AGENT = """
verifier:
  resources_servers:
    judge: {entrypoint: app.py, temperature: 0.0, endpoints: [a, b]}
talker:
  responses_api_agents:
    agent:
      entrypoint: app.py
      max_turns: 5
      model_server: {type: responses_api_models, name: policy_model}
      resources_server: {type: resources_servers, name: verifier}
policy_model:
  responses_api_models:
    provider: {base_url: "${policy_base_url}", model: "${policy_model_name}"}
"""
POLICY = {"policy_base_url": "http://localhost:8000/v1", "policy_model_name": "m"}


class Folder:
    """A working directory that is the only root, and what is loaded there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.components = Components((path,))

    def put(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def load(self, *paths: str, overrides: tuple[str, ...] = (), environ: dict[str, str] | None = None, **more: Any) -> Config:
        return load_config(self.components, paths, overrides, cwd=self.path, environ=environ or {}, **more)

    def values(self, *paths: str, overrides: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
        return self.load(*paths, overrides=overrides, **more).values

    def fault(self, *paths: str, overrides: tuple[str, ...] = (), **more: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(*paths, overrides=overrides, **more)
        return str(caught.value)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def agent(folder: Folder) -> Folder:
    folder.put("agent.yaml", AGENT)
    for app in ("resources_servers/judge", "responses_api_agents/agent", "responses_api_models/provider"):
        folder.put(f"{app}/app.py", "")
    return folder


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


# References


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
