# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a configuration: which agent runs which dataset, where the rows lie, and the script that makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_host.config.components import Components
from gym_host.config.configuration import Config, Instance
from gym_host.config.datasets import Dataset, datasets, pick_agent, pick_dataset
from gym_host.errors import ConfigError

ENTRY = {"name": "d", "type": "benchmark", "jsonl_fpath": "benchmarks/sums/rows.jsonl"}

PREPARE = """
from pathlib import Path

def prepare():
    path = Path(__file__).parent / "rows.jsonl"
    path.write_text("{}")
    return path
"""


def agents(**entries: list[dict[str, Any]]) -> tuple[Config, list[Instance]]:
    """A configuration with an agent of each name and its datasets."""
    values = {name: {"responses_api_agents": {"agent": {"datasets": found}}} for name, found in entries.items()}
    instances = [Instance(name, "responses_api_agents", "agent", {"datasets": found}, None) for name, found in entries.items()]
    return Config(values, ()), instances


def only(entry: dict[str, Any], *roots: Path) -> Dataset:
    config, instances = agents(agent=[entry])
    return next(datasets(config, Components(roots), instances))


def script(root: Path, text: str = PREPARE) -> Path:
    path = root / "benchmarks/sums/prepare.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# Where the rows lie


def test_rows_are_found_in_the_first_root_that_has_them(tmp_path: Path):
    for name in ("b", "c"):
        (tmp_path / name / "benchmarks/sums").mkdir(parents=True)
        (tmp_path / name / "benchmarks/sums/rows.jsonl").touch()
    found = only({**ENTRY, "num_repeats": 4}, tmp_path / "a", tmp_path / "b", tmp_path / "c")
    assert found == Dataset("d", "agent", "benchmark", tmp_path / "b/benchmarks/sums/rows.jsonl", None, 4)
    assert only(ENTRY, tmp_path / "b").num_repeats == 1


def test_rows_that_are_not_there_yet_are_made_in_the_root_of_their_script(tmp_path: Path):
    path = script(tmp_path / "b")
    found = only({**ENTRY, "prepare_script": "benchmarks/sums/prepare.py"}, tmp_path / "a", tmp_path / "b")
    assert (found.path, found.prepare_script) == (tmp_path / "b/benchmarks/sums/rows.jsonl", path)
    assert found.prepare() == found.path
    assert found.path.read_text() == "{}"


@pytest.mark.parametrize("key", ["name", "type", "jsonl_fpath"])
def test_an_entry_that_lacks_a_key_is_named_with_it(key: str):
    with pytest.raises(ConfigError, match=f"a dataset lacks `{key}`") as caught:
        only({name: value for name, value in ENTRY.items() if name != key})
    assert caught.value.where == "agent.datasets"


@pytest.mark.parametrize("repeats", ["two", -1, 0, 1.5, True, [2]])
def test_repeats_that_are_no_whole_number_from_one_on_are_refused(repeats: object):
    with pytest.raises(ConfigError, match="num_repeats") as caught:
        only({**ENTRY, "num_repeats": repeats})
    assert repr(repeats) in str(caught.value)


def test_a_script_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match="there is no file or folder `benchmarks/sums/prepare.py`"):
        only({**ENTRY, "prepare_script": "benchmarks/sums/prepare.py"}, tmp_path)


# Making them


def refusal(tmp_path: Path, text: str | None) -> str:
    path = script(tmp_path, text) if text is not None else None
    with pytest.raises(ConfigError) as caught:
        Dataset("d", "agent", "benchmark", tmp_path / "rows.jsonl", path, 1).prepare()
    return str(caught.value)


def test_rows_that_are_missing_and_have_no_script_are_named(tmp_path: Path):
    assert refusal(tmp_path, None) == f"the rows {tmp_path / 'rows.jsonl'} are missing, and the dataset `d` has no prepare_script"


@pytest.mark.parametrize("text", ["", "prepare = 3"])
def test_a_script_without_a_function_prepare_is_named(tmp_path: Path, text: str):
    assert refusal(tmp_path, text) == f"{tmp_path / 'benchmarks/sums/prepare.py'} has no function `prepare`"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def prepare(): raise LookupError('the file has drifted')", "the file has drifted"),
        ("def prepare(): open('/nowhere/at/all')", "No such file or directory: '/nowhere/at/all'"),
    ],
)
def test_a_script_that_refuses_is_quoted_and_not_traced(tmp_path: Path, text: str, told: str):
    said = refusal(tmp_path, text)
    assert said.startswith("the dataset `d` cannot be prepared: ")
    assert told in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import a_package_that_nobody_has\ndef prepare(): ...", "No module named 'a_package_that_nobody_has'"),
        ("def prepare(:", "invalid syntax"),
    ],
)
def test_a_script_that_cannot_be_imported_is_named_and_not_traced(tmp_path: Path, text: str, told: str):
    assert refusal(tmp_path, text).startswith(f"{tmp_path / 'benchmarks/sums/prepare.py'} cannot be imported: {told}")


# Choosing


def test_the_only_agent_is_chosen_and_of_several_the_named_one():
    _, two = agents(first=[], second=[])
    assert pick_agent(two[:1], None).name == "first"
    assert pick_agent(two, "second").name == "second"


@pytest.mark.parametrize(
    ("count", "name", "told"),
    [
        (0, None, "the configuration has no agent"),
        (2, None, "name one of: first, second"),
        (2, "secnd", "did you mean `second`?"),
    ],
)
def test_an_agent_that_cannot_be_told_is_asked_for(count: int, name: str | None, told: str):
    _, two = agents(first=[], second=[])
    with pytest.raises(ConfigError) as caught:
        pick_agent(two[:count], name)
    assert told in str(caught.value)


def test_the_only_dataset_of_a_split_is_chosen(tmp_path: Path):
    config, instances = agents(first=[ENTRY, {**ENTRY, "name": "e", "type": "example"}], second=[])
    assert pick_dataset(config, Components((tmp_path,)), instances, "example").name == "e"


def test_a_split_that_nobody_has_is_told_with_those_there_are(tmp_path: Path):
    config, instances = agents(first=[ENTRY, {**ENTRY, "name": "e", "type": "example"}])
    with pytest.raises(ConfigError, match="no agent has a dataset of the split `train`") as caught:
        pick_dataset(config, Components((tmp_path,)), instances, "train")
    assert caught.value.mend == "splits there are: benchmark, example"


def test_two_datasets_of_a_split_are_told_with_the_ways_to_choose(tmp_path: Path):
    config, instances = agents(first=[ENTRY], second=[{**ENTRY, "name": "e"}])
    with pytest.raises(ConfigError, match=r"more than one dataset has the split `benchmark`: d \(first\), e \(second\)"):
        pick_dataset(config, Components((tmp_path,)), instances, "benchmark")
    assert pick_dataset(config, Components((tmp_path,)), instances[1:], "benchmark").name == "e"
