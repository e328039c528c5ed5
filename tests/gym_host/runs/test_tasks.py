# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""From a dataset to the rows that are dispatched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from gym_host.errors import UserError
from gym_host.runs.tasks import Plan, described, materialize, rows_sha256
from tests.support.components import read_jsonl, sum_row, write_jsonl


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [sum_row(number) for number in range(3)])
    return path


def rows_of(dataset: Path, **plan: Any) -> list[dict[str, Any]]:
    return materialize(dataset, Plan("sums", "sums", **plan))


def keys(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    return [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows]


def test_a_row_is_dispatched_as_it_stands_with_its_key_its_agent_and_its_source(dataset: Path):
    rows = materialize(dataset, Plan("agent", "source"))
    assert rows[2] == {
        **sum_row(2),
        "_ng_task_index": 2,
        "_ng_rollout_index": 0,
        "agent_ref": {"name": "agent"},
        "task_source": "source",
    }
    assert len(rows) == 3


def test_a_row_that_would_count_twice_is_refused_by_its_id_and_both_lines(dataset: Path):
    write_jsonl(dataset, [sum_row(1), sum_row(2), sum_row(1)])
    with pytest.raises(UserError, match=r"the id 'sum-1' stands twice[^$]*rows\.jsonl, lines 1 and 3"):
        rows_of(dataset)
    assert len(rows_of(dataset, limit=2)) == 2


def test_rows_without_an_id_are_no_repeats_of_each_other(dataset: Path):
    write_jsonl(dataset, [{"responses_create_params": {"input": []}}] * 2 + [sum_row(1) | {"id": None}] * 2)
    assert len(rows_of(dataset)) == 4


class Row(BaseModel):
    """What an agent takes."""

    number: int = Field(ge=1)
    speaker: str = "anna"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([sum_row(1), {"responses_create_params": {}}], "the row has no `number`\n  where: {rows}, line 2: number\n"),
        ([sum_row(0), sum_row(-1)], "than or equal to 1; 1 more row cannot be run either\n  where: {rows}, line 1: number = 0\n"),
        ([sum_row(1, speaker=5)], "  where: {rows}, line 1: speaker = 5\n  to mend it: repair the row"),
        ([sum_row(1, responses_create_params={"temprature": 0})], "{rows}, line 1: responses_create_params.temprature\n"),
    ],
)
def test_a_row_that_the_agent_cannot_run_is_refused_with_its_line(dataset: Path, rows: list[Any], said: str):
    write_jsonl(dataset, rows)
    with pytest.raises(UserError) as caught:
        rows_of(dataset, row_type=Row)
    assert said.format(rows=dataset) in str(caught.value)


def test_what_is_asked_of_every_row_counts_before_it_is_held_against_what_can_be_run(dataset: Path):
    write_jsonl(dataset, [sum_row(1, responses_create_params={"temperature": "hot"})])
    assert rows_of(dataset, row_type=Row, params={"temperature": 0.0})[0]["responses_create_params"] == {"temperature": 0.0}
    assert len(rows_of(dataset, limit=1, params={"temperature": 0.0})) == 1


def test_the_limit_counts_tasks_and_not_rollouts(dataset: Path):
    assert keys(rows_of(dataset, limit=2, num_repeats=2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert len(rows_of(dataset, limit=99)) == 3


def test_repeats_run_back_to_back_or_interleaved_round_by_round(dataset: Path):
    assert keys(rows_of(dataset, num_repeats=2)) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    interleaved = rows_of(dataset, num_repeats=2, interleave_repeats=True)
    assert keys(interleaved) == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    assert [row["number"] for row in interleaved] == [0, 1, 2, 0, 1, 2]


def test_overrides_are_merged_into_the_parameters_of_every_row_and_win(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    params = {"input": [{"role": "system", "content": "Hello"}], "temperature": 1.0, "top_p": 0.9}
    write_jsonl(path, [{"responses_create_params": params}, {"responses_create_params": {"input": []}}])
    rows = rows_of(path, params={"temperature": 0.0, "max_output_tokens": 9})
    assert rows[0]["responses_create_params"] == {**params, "temperature": 0.0, "max_output_tokens": 9}
    assert rows[1]["responses_create_params"] == {"input": [], "temperature": 0.0, "max_output_tokens": 9}


def test_rows_that_were_dispatched_before_are_numbered_anew(tmp_path: Path, dataset: Path):
    path = tmp_path / "again.jsonl"
    write_jsonl(path, rows_of(dataset)[1:])
    assert keys(rows_of(path)) == [(0, 0), (1, 0)]


@pytest.mark.parametrize("bad", [{}, {"responses_create_params": None}, {"responses_create_params": [1]}])
def test_a_row_without_parameters_is_named_by_file_and_line(tmp_path: Path, bad: dict[str, Any]):
    path = tmp_path / "rows.jsonl"
    write_jsonl(path, [sum_row(1), bad])
    with pytest.raises(UserError, match="`responses_create_params`") as caught:
        rows_of(path)
    assert caught.value.where == f"{path}, line 2"
    assert len(rows_of(path, limit=1)) == 1


def test_a_dataset_without_rows_is_an_error(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n\n")
    with pytest.raises(UserError, match="has no rows"):
        rows_of(path)


def test_a_dataset_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(UserError, match=r"rows.jsonl cannot be read: No such file"):
        rows_of(tmp_path / "rows.jsonl")


def test_the_hash_of_the_rows_is_that_of_their_contents_whatever_comes_first(dataset: Path, tmp_path: Path):
    rows = rows_of(dataset)
    reordered = [dict(reversed(row.items())) for row in rows]
    assert rows_sha256(reordered) == rows_sha256(rows)
    repeated = (rows_of(dataset, num_repeats=2, interleave_repeats=interleaved) for interleaved in (False, True))
    assert len(set(map(rows_sha256, repeated))) == 1
    backwards = tmp_path / "backwards.jsonl"
    write_jsonl(backwards, read_jsonl(dataset)[::-1])
    others = (rows_of(backwards), rows[:2], rows_of(dataset, params={"temperature": 0.0}), rows_of(dataset, num_repeats=2))
    assert len({rows_sha256(rows), *map(rows_sha256, others)}) == 5


def test_the_rows_are_described_by_their_numbers_and_the_parameters_that_they_share(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    first = {"input": [], "temperature": 0.5, "top_p": 0.9}
    write_jsonl(path, [{"responses_create_params": first}, {"responses_create_params": {"input": [], "temperature": 0.5}}])
    rows = rows_of(path, num_repeats=3)
    assert described(rows) == {
        "tasks": 2,
        "num_repeats": 3,
        "responses_create_params": {"temperature": 0.5},
        "sha256": rows_sha256(rows),
    }
