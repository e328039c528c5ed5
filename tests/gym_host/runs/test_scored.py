# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run knows of its rollouts file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_host.errors import OutputError, UserError
from gym_host.journal import Journal
from gym_host.runs.failures import read_failures
from gym_host.runs.keys import key_of
from gym_host.runs.scored import Scored
from tests.support.components import read_jsonl, write_jsonl


def row(task: int, rollout: int = 0, **more: Any) -> dict[str, Any]:
    return {"_ng_task_index": task, "_ng_rollout_index": rollout, **more}


def test_what_the_rollouts_file_holds_is_known_by_key_with_the_wanted_fields_only(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    write_jsonl(path, [row(1, reward=0.5, transcript="long"), row(0, reward=1.0), row(0, 1, reward=0.0, a={"b": 1, "c": 2})])
    scored = Scored(["reward", "a.b"])
    scored.load(path)
    assert list(scored) == [(1, 0), (0, 0), (0, 1)]
    assert len(scored) == 3
    assert (0, 1) in scored
    assert (1, 1) not in scored
    assert scored.rows() == [{"reward": 1.0}, {"reward": 0.0, "a": {"b": 1}}, {"reward": 0.5}]


def test_without_wanted_fields_whole_rows_are_known(tmp_path: Path):
    write_jsonl(tmp_path / "x.jsonl", [row(0, reward=1.0)])
    scored = Scored(None)
    scored.load(tmp_path / "x.jsonl")
    assert scored.rows() == [row(0, reward=1.0)]


def test_a_key_that_stands_twice_is_an_error_at_its_second_line(tmp_path: Path):
    write_jsonl(tmp_path / "x.jsonl", [row(0), row(1), row(0)])
    with pytest.raises(OutputError, match=r"the rollout \(0, 0\) stands twice") as caught:
        Scored(None).load(tmp_path / "x.jsonl")
    assert caught.value.where == f"{tmp_path / 'x.jsonl'}, line 3"


@pytest.mark.parametrize("bad", [{}, {"_ng_task_index": 0}, {"_ng_task_index": "0", "_ng_rollout_index": 0}])
def test_a_row_without_a_key_is_named_by_file_and_line(tmp_path: Path, bad: dict[str, Any]):
    path = tmp_path / "x.jsonl"
    write_jsonl(path, [row(0), bad])
    for read in (Scored(None).load, read_failures):
        with pytest.raises(OutputError, match="no `_ng_task_index` and `_ng_rollout_index`") as caught:
            read(path)
        assert caught.value.where == f"{path}, line 2"


def test_a_broken_line_is_an_error_and_not_a_rollout_less(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"_ng_task_index": 0, "_ng_rollout_index": 0}\n{"_ng_task_in\n')
    with pytest.raises(UserError, match="no JSON") as caught:
        Scored(None).load(path)
    assert caught.value.where == f"{path}, line 2"


@pytest.mark.parametrize("blank", ["", "\n", "\n\n  \n"])
def test_rows_loaded_and_rows_appended_are_sorted_together_by_task_and_rollout(tmp_path: Path, blank: str):
    path = tmp_path / "x.jsonl"
    write_jsonl(path, [row(10, text="é"), row(2, 1)])
    with path.open("a") as file:
        file.write(blank)
    scored, journal = Scored(["reward"]), Journal(path)
    scored.load(path)
    for new in (row(2, 0, text="longer than the others"), row(0)):
        scored.add(key_of(new), new, journal.append(new))
    journal.close()
    scored.sort(path)
    assert read_jsonl(path) == [row(0), row(2, 0, text="longer than the others"), row(2, 1), row(10, text="é")]


def test_a_sorted_file_is_not_written_again(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    write_jsonl(path, [row(0), row(0, 1), row(1)])
    before = path.stat()
    scored = Scored(None)
    scored.load(path)
    scored.sort(path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
