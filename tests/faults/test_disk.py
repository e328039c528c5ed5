# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whole runs on a disk that is full, small or cannot be written."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Small
from tests.support.behind import results
from tests.support.components import snapshot

KIB = 1024


class Disk:
    """A disk of its own, in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self, options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.folder)]
        try:
            return subprocess.run(command, capture_output=True, check=False).returncode == 0
        except OSError:
            return False

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    disk = Disk(folder)
    if not disk.mount("size=64m"):
        pytest.skip("needs the right to mount")
    yield disk
    subprocess.run(["umount", str(folder)], check=True)


def bytes_of(small: Small) -> int:
    """Bytes of the undisturbed rollouts."""
    return small.undisturbed.files.rollouts.stat().st_size


def test_25_a_run_that_fills_its_disk_stops_at_the_last_whole_row_and_goes_on_when_there_is_room(small: Small, disk: Disk):
    output = disk.folder / "x.jsonl"
    inputs = small.undisturbed.files.inputs.stat().st_size
    disk.remount(f"size={(inputs + bytes_of(small) // 2 + 24 * KIB) // KIB}k")
    said = small.run(output, "--concurrency", "1", code=2)
    assert "x.jsonl cannot be written: No space left on device" in said
    assert "make room on the disk, then run the same command with --resume" in said
    assert "Traceback" not in said
    kept = results(output).rows
    assert 0 < len(kept) < len(small.undisturbed.rows)
    small.run(output, "--resume", code=2)
    assert results(output).rows == kept
    disk.remount("size=64m")
    small.run(output, "--resume")
    small.must_be(output)


def test_25_a_disk_without_room_for_the_sorted_copy_keeps_every_row_as_it_came(small: Small, disk: Disk):
    output = disk.folder / "x.jsonl"
    inputs = small.undisturbed.files.inputs.stat().st_size
    disk.remount(f"size={(inputs + bytes_of(small) * 5 // 4 + 64 * KIB) // KIB}k")
    said = small.run(output, "--concurrency", "12", code=2)
    assert "cannot be written: No space left on device" in said
    assert len(results(output).rows) == len(small.undisturbed.rows)
    assert not [path for path in disk.folder.iterdir() if path.name.endswith(".part")]
    disk.remount("size=64m")
    small.run(output, "--resume")
    small.must_be(output)


def test_25_a_file_at_the_limit_of_its_size_ends_in_a_whole_row_and_is_gone_on_with(small: Small, tmp_path: Path):
    output = tmp_path / "x.jsonl"
    limit = bytes_of(small) // 2
    assert limit > small.undisturbed.files.inputs.stat().st_size

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    _, said = small.behind.run(output, "--concurrency", "1", code=2, before=limited)
    assert "x.jsonl cannot be written: File too large" in said
    assert 0 < len(results(output).rows) < len(small.undisturbed.rows)
    small.run(output, "--resume")
    small.must_be(output)


@pytest.mark.parametrize("words", [(), ("--resume",), ("--overwrite",)])
def test_25_a_disk_that_cannot_be_written_is_named_and_nothing_is_asked_of_a_model(small: Small, disk: Disk, words):
    output = disk.folder / "results" / "x.jsonl"
    if words:
        small.copy(output.parent)
    before = snapshot(disk.folder)
    disk.remount("ro")
    asked = small.behind.ask("/stats")["counts"]
    said = small.run(output, *words, code=2)
    assert "cannot be written: Read-only file system" in said
    assert "Traceback" not in said
    assert snapshot(disk.folder) == before
    assert small.behind.ask("/stats")["counts"] == asked


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_25_a_folder_without_the_right_to_write_is_named(small: Small, tmp_path: Path):
    folder = tmp_path / "results"
    folder.mkdir(mode=0o555)
    said = small.run(folder / "x.jsonl", code=2)
    assert "cannot be written: Permission denied" in said


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_25_a_run_whose_words_go_to_a_full_disk_is_a_run_all_the_same(small: Small, tmp_path: Path, stream):
    output = tmp_path / "x.jsonl"

    def to_full() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1 if stream == "stdout" else 2)

    small.behind.run(output, before=to_full)
    small.must_be(output)
