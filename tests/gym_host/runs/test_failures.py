# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The failures file of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gym_host.runs.failures import read_failures
from tests.support.components import write_jsonl


def row(task: int, rollout: int = 0, **more: Any) -> dict[str, Any]:
    return {"_ng_task_index": task, "_ng_rollout_index": rollout, **more}


def test_the_failures_of_a_rollout_are_counted_and_the_last_one_decides(tmp_path: Path):
    first, second = row(0, error="a", _ng_failure_terminal=True), row(0, error="b")
    write_jsonl(tmp_path / "f.jsonl", [first, row(1, error="c", _ng_failure_terminal=True), second])
    failed = read_failures(tmp_path / "f.jsonl")
    assert {key: (before.attempts, before.terminal) for key, before in failed.items()} == {(0, 0): (2, False), (1, 0): (1, True)}
    assert failed[0, 0].last == second


def test_what_is_forgiven_counts_not_but_is_final_all_the_same_unless_it_was_mended(tmp_path: Path):
    write_jsonl(tmp_path / "f.jsonl", [row(0, _ng_failure_terminal=True), row(1), row(1)])
    forgiven, mended = (read_failures(tmp_path / "f.jsonl", **{how: 2}) for how in ("forgiven", "mended"))
    assert [forgiven[key, 0].forgiven for key in (0, 1)] == [mended[key, 0].forgiven for key in (0, 1)] == [1, 1]
    assert (forgiven[0, 0].terminal, mended[0, 0].terminal) == (True, False)


def test_no_failures_file_is_no_failure(tmp_path: Path):
    assert read_failures(tmp_path / "gone.jsonl") == {}
