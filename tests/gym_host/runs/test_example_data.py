# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The example data of an environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_host.runs.example_data import check_example_data

ROW: dict[str, Any] = {"id": "a", "responses_create_params": {"input": []}}


def folder(tmp_path: Path, **files: list[Any] | str) -> Path:
    """Example data that is as it should be, except for these files."""
    contents: dict[str, list[Any] | str] = {
        "example.jsonl": [ROW, ROW],
        "example_rollouts.jsonl": [ROW | {"reward": 1}, ROW | {"reward": 0.5}],
        "example_metrics.json": '[{"mean/reward": 0.75}]',
    }
    contents |= {name.replace("_json", ".json"): content for name, content in files.items()}
    (tmp_path / "data").mkdir()
    for name, content in contents.items():
        text = content if isinstance(content, str) else "".join(f"{json.dumps(line)}\n" for line in content)
        (tmp_path / "data" / name).write_text(text)
    return tmp_path


def test_rows_with_rollouts_and_metrics_are_as_they_should_be(tmp_path: Path):
    assert check_example_data(folder(tmp_path)) == []


def test_each_file_that_is_missing_is_named(tmp_path: Path):
    names = ("example.jsonl", "example_rollouts.jsonl", "example_metrics.json")
    assert check_example_data(tmp_path) == [f"{tmp_path / 'data' / name} is missing" for name in names]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"example_jsonl": [ROW, {"id": "b"}]}, "example.jsonl, line 2: lacks `responses_create_params`"),
        ({"example_jsonl": [ROW, [ROW]]}, "example.jsonl, line 2: is no JSON object"),
        ({"example_jsonl": '{"id": \n'}, "example.jsonl, line 1: is no JSON"),
        ({"example_jsonl": ""}, "example.jsonl has no rows"),
        ({"example_more_jsonl": [{"responses_create_params": {}}]}, "example_more.jsonl, line 1: lacks"),
        ({"example_rollouts_jsonl": [ROW | {"reward": None}, ROW]}, "line 1: is a rollout without a `reward`"),
        ({"example_rollouts_jsonl": [ROW | {"reward": 1}]}, "has 2 rows, and"),
        ({"example_metrics_json": "{"}, "example_metrics.json is no JSON"),
        ({"example_metrics_json": "[]"}, "example_metrics.json holds no metrics"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path: Path, files: dict[str, Any], said: str):
    assert said in check_example_data(folder(tmp_path, **files))[0]
