# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where the components lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gym_host.config.components import SERVER_TYPES, Components, installation_root
from gym_host.errors import ConfigError


def put(root: Path, relative: str, text: str = "") -> Path:
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        put(root, "benchmarks/both/config.yaml")
    put(second, "benchmarks/only_second/config.yaml")
    put(second, "resources_servers/judge/configs/judge.yaml")
    put(second, "resources_servers/judge/app.py")
    put(second, "responses_api_agents/talker/app.py")
    put(second, "responses_api_models/inference_provider/configs/inference_provider.yaml")
    return first, second


@pytest.fixture
def components(roots: tuple[Path, Path]) -> Components:
    return Components(roots)


def test_the_first_root_wins(components: Components, roots: tuple[Path, Path]):
    assert components.benchmark("both") == roots[0] / "benchmarks/both/config.yaml"
    assert components.benchmark("only_second") == roots[1] / "benchmarks/only_second/config.yaml"
    assert components.find("benchmarks/both") == roots[0] / "benchmarks/both"


def test_listings_are_sorted_by_name_and_cover_all_roots(components: Components, roots: tuple[Path, Path]):
    assert [name for name, _ in components.benchmarks()] == ["both", "only_second"]
    assert components.resources_servers() == (("judge", roots[1] / "resources_servers/judge/configs/judge.yaml"),)
    assert components.agents() == (("talker", roots[1] / "responses_api_agents/talker/app.py"),)
    assert [name for name, _ in components.model_types()] == ["inference_provider"]


def test_an_environment_is_the_configuration_of_its_resources_server(components: Components):
    assert components.environment("judge") == components.resources_server("judge")


@pytest.mark.parametrize("word", ["inference_provider", "vllm_model", "openai_model"])
def test_nvidias_words_for_a_model_type_mean_the_inference_provider(components: Components, word: str):
    assert components.model_type(word).name == "inference_provider.yaml"


def test_an_unknown_name_is_answered_with_the_nearest_one_and_the_list(components: Components):
    with pytest.raises(ConfigError, match="there is no benchmark `only_secnd`") as caught:
        components.benchmark("only_secnd")
    assert caught.value.mend == "did you mean `only_second`? (known: both, only_second)"
    with pytest.raises(ConfigError, match="there is no model type `vllm`") as caught:
        components.model_type("vllm")
    assert "vllm_model" in str(caught.value.mend)


def test_the_list_of_known_names_is_bounded(tmp_path: Path):
    for number in range(40):
        put(tmp_path, f"benchmarks/b{number:02}/config.yaml")
    with pytest.raises(ConfigError) as caught:
        Components((tmp_path,)).benchmark("zzz")
    assert str(caught.value.mend).endswith("b11, and 28 more")


def test_with_no_component_at_all_the_message_says_where_it_looked(tmp_path: Path):
    with pytest.raises(ConfigError) as caught:
        Components((tmp_path,)).environment("vera_mh")
    assert str(tmp_path) in str(caught.value)
    assert caught.value.mend is None


def test_a_path_that_no_root_has_is_an_error_that_names_the_roots(components: Components, roots: tuple[Path, Path]):
    with pytest.raises(ConfigError, match=r"missing\.yaml") as caught:
        components.find("missing.yaml")
    assert all(str(root) in str(caught.value.where) for root in roots)


def test_an_absolute_path_is_taken_as_it_is(components: Components, tmp_path: Path):
    elsewhere = put(tmp_path, "elsewhere/my.yaml")
    assert components.find(elsewhere) == elsewhere
    with pytest.raises(ConfigError):
        components.find(tmp_path / "nowhere.yaml")


def test_the_program_of_a_server_is_found_and_what_we_lack_is_none(components: Components, roots: tuple[Path, Path]):
    assert components.app("resources_servers", "judge") == roots[1] / "resources_servers/judge/app.py"
    assert components.app("resources_servers", "judge", "other.py") is None
    assert components.app("responses_api_models", "inference_provider") is None
    assert components.app("environment_servers", "legacy_agent") is None


def test_roots_come_in_their_order_without_duplicates(tmp_path: Path):
    for name in ("given", "extra", "cwd"):
        (tmp_path / name).mkdir()
    extra = os.pathsep.join([str(tmp_path / "extra"), "", str(tmp_path / "given"), "../cwd"])
    found = Components.discover(["../given"], cwd=tmp_path / "cwd", environ={"NEMO_GYM_EXTRA_ROOTS": extra})
    expected = [tmp_path / "given", tmp_path / "extra", tmp_path / "cwd", installation_root()]
    assert [root.resolve() for root in found.roots] == [root.resolve() for root in expected]


def test_the_installation_counts_once_when_it_is_the_working_directory():
    assert Components.discover(cwd=installation_root(), environ={}).roots == (installation_root(),)


def test_a_search_dir_that_is_no_folder_is_an_error(tmp_path: Path):
    with pytest.raises(ConfigError, match="typo") as caught:
        Components.discover(["typo"], cwd=tmp_path, environ={})
    assert caught.value.where == "--search-dir"
    with pytest.raises(ConfigError, match="typo") as caught:
        Components.discover(cwd=tmp_path, environ={"NEMO_GYM_EXTRA_ROOTS": "typo"})
    assert caught.value.where == "environment variable NEMO_GYM_EXTRA_ROOTS"


def test_the_installation_has_the_folders_of_every_server_type():
    assert all((installation_root() / server_type).is_dir() for server_type in SERVER_TYPES)
