# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Collating: the right splits, every row checked and stamped, one file for each split."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gym_host.cli.main import main
from gym_host.config.datasets import Dataset
from gym_host.errors import UserError
from gym_host.runs.collation import Mode, collate

NOT_TO_TRAIN_ON = "benchmark.jsonl is there to evaluate with, not to train on"


def dataset(folder: Path, split: str, *rows: Any, name: str = "d") -> Dataset:
    path = folder / f"{name}_{split}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Dataset(name=name, agent=f"{name}_agent", split=split, path=path, prepare_script=None, num_repeats=1)


def row(id_: str | None = None) -> dict[str, Any]:
    return {"responses_create_params": {"input": []}} | ({"id": id_} if id_ else {})


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_split_of_the_mode_becomes_a_file_and_each_row_says_who_runs_it(tmp_path: Path):
    datasets = [
        dataset(tmp_path, "benchmark", row("a")),
        dataset(tmp_path, "train", row("b")),
        dataset(tmp_path, "example", row("c")),
    ]
    collated = collate(datasets, Mode.TRAIN_PREPARATION, tmp_path / "out")
    assert [(c.split, c.rows, c.unique_ids) for c in collated] == [("train", 1, 1), ("benchmark", 1, 1)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["benchmark.jsonl", "train.jsonl"]
    assert lines(tmp_path / "out" / "train.jsonl") == [row("b") | {"agent_ref": {"name": "d_agent"}, "task_source": "d_agent"}]


def test_datasets_of_one_split_go_into_one_file(tmp_path: Path):
    both = [dataset(tmp_path, "benchmark", row("a"), name="one"), dataset(tmp_path, "benchmark", row("b"), name="two")]
    assert [c.rows for c in collate(both, Mode.TRAIN_PREPARATION, tmp_path / "out")] == [2]
    assert [r["task_source"] for r in lines(tmp_path / "out" / "benchmark.jsonl")] == ["one_agent", "two_agent"]


def test_the_same_id_twice_in_a_split_is_refused_and_nothing_written(tmp_path: Path):
    both = [dataset(tmp_path, "benchmark", row("a"), name="one"), dataset(tmp_path, "benchmark", row("a"), name="two")]
    with pytest.raises(UserError, match="'a' stands twice"):
        collate(both, Mode.TRAIN_PREPARATION, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_that_are_there_are_replaced_only_when_told_so_and_nothing_is_written_beside_them(tmp_path: Path):
    both = [dataset(tmp_path, "train", row("a")), dataset(tmp_path, "benchmark", row("b"))]
    out = tmp_path / "out"
    out.mkdir()
    (out / "benchmark.jsonl").write_text("edited by hand\n")
    with pytest.raises(UserError, match=r"benchmark\.jsonl is already there[^$]*--overwrite"):
        collate(both, Mode.TRAIN_PREPARATION, out)
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("benchmark.jsonl", "edited by hand\n")]
    collate(both, Mode.TRAIN_PREPARATION, out, overwrite=True)
    assert [r["id"] for r in lines(out / "benchmark.jsonl")] == ["b"]


def test_a_dataset_is_never_replaced_by_what_is_collated_of_it(tmp_path: Path):
    (tmp_path / "train").mkdir()
    own = dataset(tmp_path, "train", row("a"))
    own = replace(own, path=own.path.rename(tmp_path / "train.jsonl"))
    with pytest.raises(UserError, match=r"train\.jsonl is one of the files that are read"):
        collate([own], Mode.TRAIN_PREPARATION, tmp_path / "train/..", overwrite=True)
    assert lines(own.path) == [row("a")]


def test_rows_without_ids_are_collated_and_said_to_have_none(tmp_path: Path):
    (collated,) = collate([dataset(tmp_path, "example", row(), row())], Mode.EXAMPLE_VALIDATION, tmp_path / "out")
    assert (collated.rows, collated.unique_ids) == (2, None)


def test_a_malformed_row_is_named_by_file_and_line(tmp_path: Path):
    with pytest.raises(UserError) as caught:
        collate([dataset(tmp_path, "example", row("a"), {"id": "b"})], Mode.EXAMPLE_VALIDATION, tmp_path / "out")
    assert "d_example.jsonl, line 2" in str(caught.value)


def test_a_configuration_without_such_a_split_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match="no dataset has one of the splits example"):
        collate([dataset(tmp_path, "train", row("a"))], Mode.EXAMPLE_VALIDATION, tmp_path / "out")


def test_the_command_collates_the_200_rows_of_the_benchmark(
    pack_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("VERA_MH_PACK", str(pack_folder))
    assert main(["dataset", "collate", "--benchmark", "vera_mh", "--output-dir", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "benchmark: 200 rows, 200 unique ids" in said
    assert said.endswith(f"next: run these files, as in `gym eval run --input {tmp_path}/benchmark.jsonl`; {NOT_TO_TRAIN_ON}\n")
    assert {r["task_source"] for r in lines(tmp_path / "benchmark.jsonl")} == {"vera_mh_recommended"}


def test_the_command_collates_the_example_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = ["--resources-server", "vera_mh", "--mode", "example_validation", "--output-dir", str(tmp_path)]
    assert main(["dataset", "collate", *words]) == 0
    assert "example: 5 rows, 5 unique ids" in capsys.readouterr().out


OWN = """
mine:
  responses_api_agents:
    vera_mh_agent:
      datasets:
        - {{name: a, type: train, jsonl_fpath: {train}}}
        - {{name: b, type: {other}, jsonl_fpath: {rows}}}
"""


@pytest.mark.parametrize(("other", "warned"), [("validation", False), ("benchmark", True)])
def test_rows_to_train_on_are_said_to_be_so_and_those_of_a_benchmark_beside_them_are_not(
    other: str, warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    paths = {"train": dataset(tmp_path, "train", row("a")).path, "rows": dataset(tmp_path, other, row("b")).path}
    (tmp_path / "own.yaml").write_text(OWN.format(other=other, **paths))
    words = ["--config", str(tmp_path / "own.yaml"), "--output-dir", str(tmp_path / "out")]
    assert main(["dataset", "collate", *words]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("next: train or run on these files, as in `gym eval run --input ")
    assert said.endswith(NOT_TO_TRAIN_ON) is warned
