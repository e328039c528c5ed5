# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a file, found by their key."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_host.errors import OutputError, UserError
from gym_host.runs.stored import StoredRows
from tests.support.components import write_jsonl


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.jsonl"
    write_jsonl(path, [row(2), row(0), row(1)])
    return path


def row(task: int, **more: object) -> dict[str, object]:
    return {"_ng_task_index": task, "_ng_rollout_index": 0, "text": f"\u2028 {task}", **more}


def stored_from(*paths: Path, **how: object) -> StoredRows:
    stored = StoredRows()
    for path in paths:
        stored.load(path, **how)  # type: ignore[arg-type]
    return stored


def test_rows_are_found_by_key_and_come_in_order(path: Path):
    stored = stored_from(path)
    assert (stored.keys(), len(stored)) == ([(0, 0), (1, 0), (2, 0)], 3)
    assert list(stored.rows()) == [row(0), row(1), row(2)]
    assert ((2, 0) in stored, (3, 0) in stored) == (True, False)
    assert stored.row((2, 0)) == row(2)


def test_only_wanted_rows_are_taken_and_a_later_one_takes_the_place_of_an_earlier_one_where_that_is_meant(path: Path):
    write_jsonl(path, [row(0, old=True), row(1, old=True), row(0), row(1, old=True, wanted=False), row(2, wanted=False)])
    stored = stored_from(path, wanted=lambda found: found.get("wanted", True), replaces=True)
    assert list(stored.rows()) == [row(0)]


def test_a_key_that_stands_twice_is_refused_by_its_line(path: Path):
    write_jsonl(path, [row(0), row(1), row(0)])
    with pytest.raises(OutputError) as caught:
        stored_from(path)
    assert (caught.value.what, caught.value.where) == ("the rollout (0, 0) stands twice", f"{path}, line 3")


@pytest.mark.parametrize("content", [b"", b"{}\n{}\n" * 50, b'{"_ng_task_index": 9, "_ng_rollout_index": 0}\n' * 9])
def test_a_file_that_somebody_changed_meanwhile_is_not_taken_for_what_it_was(path: Path, content: bytes):
    stored = stored_from(path)
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"x\.jsonl was changed by somebody else meanwhile"):
        stored.row((1, 0))


def test_a_file_that_is_gone_is_named(path: Path):
    stored = stored_from(path)
    path.unlink()
    with pytest.raises(UserError, match=r"x\.jsonl cannot be read: No such file"):
        stored.row((1, 0))
