# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What there is, and how it is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_host.config.catalogue import KINDS, catalogue, pick, search
from gym_host.config.components import Components
from gym_host.errors import ConfigError


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def components(tmp_path: Path) -> Components:
    described = "it: {resources_servers: {maths: {description: Checks sums, entrypoint: app.py}}}"
    put(tmp_path / "resources_servers/maths/configs/maths.yaml", described)
    put(tmp_path / "benchmarks/sums/config.yaml", "config_paths: []\n")
    put(tmp_path / "benchmarks/sums/README.md", "# Sums\n\n[badge]\n\nA hundred sums of two\nnumbers. More of it.\n\nAnd more.\n")
    put(tmp_path / "benchmarks/bare/config.yaml", "a: [1, 2\n")
    put(tmp_path / "responses_api_agents/adder/app.py", "")
    put(tmp_path / "responses_api_agents/adder/README.md", "An agent that adds:\n\n```console\n")
    put(tmp_path / "responses_api_models/inference_provider/configs/inference_provider.yaml", "")
    put(tmp_path / "responses_api_models/inference_provider/README.md", "# inference_provider\n\nAny endpoint\n")
    return Components((tmp_path,))


def test_each_thing_has_a_line_from_its_configuration_or_its_readme(components: Components):
    described = {(entry.kind, entry.name): entry.description for entry in catalogue(components)}
    assert described == {
        ("benchmarks", "bare"): "",
        ("benchmarks", "sums"): "A hundred sums of two numbers",
        ("environments", "maths"): "Checks sums",
        ("agents", "adder"): "An agent that adds",
        ("models", "inference_provider"): "Any endpoint",
    }
    assert [entry.name for entry in catalogue(components, ["agents"])] == ["adder"]


def test_one_thing_is_picked_by_its_name_or_by_nvidias_word_for_it(components: Components):
    models = catalogue(components, ["models"])
    assert pick(models, "vllm_model").name == "inference_provider"
    with pytest.raises(ConfigError) as caught:
        pick(models, "inferense_provider")
    assert "did you mean `inference_provider`?" in str(caught.value)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("sums", ["sums", "maths"]),
        ("SUM", ["sums", "maths"]),
        ("hundred numbers", ["sums"]),
        ("add", ["adder"]),
        ("hundrd", ["sums"]),
        ("inferense provider", ["inference_provider"]),
        ("weather", []),
    ],
)
def test_a_query_finds_names_first_then_descriptions_then_what_is_nearly_so(components: Components, query: str, found: list[str]):
    assert [entry.name for entry in search(catalogue(components, KINDS), query)] == found
