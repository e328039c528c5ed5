# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a run, and who may write them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gym_host.errors import OutputError
from gym_host.runs.run_files import RunFiles, mend

HOLD = """
import sys
from pathlib import Path
from gym_host.runs.run_files import RunFiles

with RunFiles(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""


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


@pytest.mark.parametrize("name", ["x_failures.jsonl", "x_materialized_inputs.jsonl", f"{'x' * 240}.jsonl"])
def test_a_name_that_another_file_of_a_run_could_have_or_none_can_have_is_refused(tmp_path: Path, name: str):
    with pytest.raises(OutputError, match="name"):
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


# Half a last line


def test_both_files_that_grow_are_mended(files: RunFiles):
    files.rollouts.parent.mkdir()
    files.rollouts.write_bytes(b'{"a":1}\n{"a"')
    files.failures.write_bytes(b'{"b":1}\n{"b":2')
    assert [path.name for path in mend(files)] == ["x.jsonl.torn-8", "x_failures.jsonl.torn-8"]
    assert files.rollouts.read_bytes() == b'{"a":1}\n'
    assert files.failures.read_bytes() == b'{"b":1}\n'
