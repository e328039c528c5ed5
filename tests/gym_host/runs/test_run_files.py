# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a run, what stands in them, and who may write them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gym_host.errors import OutputError, UserError
from gym_host.journal import Journal
from gym_host.runs.run_files import RunFiles, Scored, key_of, mend, project, read_failures
from tests.support.components import read_jsonl, write_jsonl

HOLD = """
import sys
from pathlib import Path
from gym_host.runs.run_files import RunFiles

with RunFiles(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""


def row(task: int, rollout: int = 0, **more: Any) -> dict[str, Any]:
    return {"_ng_task_index": task, "_ng_rollout_index": rollout, **more}


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    return RunFiles.of(tmp_path / "results" / "x.jsonl")


# Names


def test_all_files_lie_beside_the_output_under_the_names_that_nemo_gym_gives_them(files: RunFiles):
    assert [path.name for path in files.all] == [
        "x.jsonl",
        "x_failures.jsonl",
        "x_materialized_inputs.jsonl",
        "x_aggregate_metrics.json",
        "x_run.json",
    ]
    assert {path.parent.name for path in files.all} == {"results"}


@pytest.mark.parametrize("name", ["results", "x.json", ".jsonl", "folder.jsonl"])
def test_an_output_that_is_no_name_for_a_rollouts_file_is_refused(tmp_path: Path, name: str):
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(OutputError, match="no name for a rollouts file"):
        RunFiles.of(tmp_path / name)


# Lock


def test_a_second_run_is_refused_for_as_long_as_the_first_holds_the_files(files: RunFiles):
    with files.locked():
        with pytest.raises(OutputError, match=r"another run is writing .*x\.jsonl"), files.locked():
            pass
        assert files.lock.exists()
    with files.locked():
        pass
    assert not files.lock.exists()


def test_another_output_in_the_same_folder_is_free(files: RunFiles):
    with files.locked(), RunFiles.of(files.rollouts.with_name("y.jsonl")).locked():
        pass


def test_a_killed_process_leaves_no_lock_behind(files: RunFiles):
    command = [sys.executable, "-c", HOLD, str(files.rollouts)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OutputError, match="another run is writing"), files.locked():
            pass
        holder.kill()
        holder.wait(10)
        assert files.lock.exists()
        with files.locked():
            pass


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").touch()
    files = RunFiles.of(tmp_path / "file" / "results" / "x.jsonl")
    with pytest.raises(OutputError, match=r"file/results cannot be written") as caught, files.locked():
        pass
    assert caught.value.where == "--output"


# Rollouts


def test_what_the_rollouts_file_holds_is_known_by_key_with_the_wanted_fields_only(files: RunFiles, tmp_path: Path):
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


def test_fields_that_are_not_there_are_left_out():
    source = {"a": {"b": {"c": 1, "d": 2}}, "e": None, "f": 3}
    assert project(source, ["a.b.c", "a.x.y", "e", "e.f", "f.g", "gone"]) == {"a": {"b": {"c": 1}}, "e": None}


# Failures


def test_the_failures_of_a_rollout_are_counted_and_the_last_one_decides(tmp_path: Path):
    first, second = row(0, error="a", _ng_failure_terminal=True), row(0, error="b")
    write_jsonl(tmp_path / "f.jsonl", [first, row(1, error="c", _ng_failure_terminal=True), second])
    failed = read_failures(tmp_path / "f.jsonl")
    assert {key: (before.attempts, before.terminal) for key, before in failed.items()} == {(0, 0): (2, False), (1, 0): (1, True)}
    assert failed[0, 0].last == second


def test_no_failures_file_is_no_failure(tmp_path: Path):
    assert read_failures(tmp_path / "gone.jsonl") == {}


def test_both_files_that_grow_are_mended(files: RunFiles):
    files.rollouts.parent.mkdir()
    files.rollouts.write_bytes(b'{"a":1}\n{"a"')
    files.failures.write_bytes(b'{"b":1}\n{"b":2')
    assert [path.name for path in mend(files)] == ["x.jsonl.torn-8", "x_failures.jsonl.torn-8"]
    assert files.rollouts.read_bytes() == b'{"a":1}\n'
    assert files.failures.read_bytes() == b'{"b":1}\n'


@pytest.mark.parametrize("name", ["x_failures.jsonl", "x_materialized_inputs.jsonl", f"{'x' * 240}.jsonl"])
def test_a_name_that_another_file_of_a_run_could_have_or_none_can_have_is_refused(tmp_path: Path, name: str):
    with pytest.raises(OutputError, match="name"):
        RunFiles.of(tmp_path / name)
