# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines that only grow, and half a line at the end of them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from gym_host.errors import OutputError
from gym_host.journal import Journal, mend_tail
from tests.support.components import read_jsonl

FILL = """
import json, resource, sys
from pathlib import Path
from gym_host.atomic import write_whole
from gym_host.errors import OutputError
from gym_host.journal import Journal

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
journal = Journal(folder / "full.jsonl")
try:
    for number in range(1000):
        journal.append({"number": number, "text": "x" * 700})
except OutputError as error:
    print(error)
try:
    write_whole(folder / "whole.json", [b"y" * 60, b"z" * 200_000])
except OutputError as error:
    print(error)
print("still running")
"""
"""Fills a disk, or a file up to its limit, in a process of its own."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path, limit: int) -> str:
    """Fills a folder's disk; what the process said."""
    command = [sys.executable, "-c", FILL, str(folder), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert done.stderr == ""
    return done.stdout


# Appending


def test_an_appended_line_is_in_the_file_at_once_and_its_length_is_told(path: Path):
    path.write_bytes(b'{"a":1}\n')
    journal = Journal(path)
    lengths = [journal.append({"b": "é"}), journal.append({"c": "two\nlines"})]
    assert read_jsonl(path) == [{"a": 1}, {"b": "é"}, {"c": "two\nlines"}]
    assert sum(lengths) == path.stat().st_size - 8
    journal.close()
    journal.close()


def test_a_journal_that_cannot_be_opened_says_so_before_anything_is_run(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"x.jsonl cannot be written: Not a directory"):
        Journal(tmp_path / "file" / "x.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_takes_nothing_and_cannot_be_cut_is_an_output_error():
    journal = Journal(Path("/dev/full"))
    with pytest.raises(OutputError, match="/dev/full cannot be written: No space left on device"):
        journal.append({"a": 1})
    with pytest.raises(OutputError, match="/dev/full cannot be written"):
        journal.close()
    journal.close()


def test_a_full_disk_stops_the_writing_after_the_last_whole_line(tiny_disk: Path):
    (tiny_disk / "whole.json").write_bytes(b"as before")
    said = fill(tiny_disk, 0)
    rows = read_jsonl(tiny_disk / "full.jsonl")
    assert [row["number"] for row in rows] == list(range(len(rows)))
    assert 40 < len(rows) < 90
    assert "full.jsonl cannot be written: No space left on device" in said
    assert "make room on the disk, then run the same command with --resume" in said
    assert (tiny_disk / "whole.json").read_bytes() == b"as before"
    assert {file.name for file in tiny_disk.iterdir()} == {"full.jsonl", "whole.json"}
    assert said.endswith("still running\n")


def test_a_file_at_the_limit_of_its_size_ends_in_a_whole_line_and_a_replaced_one_is_as_before(tmp_path: Path):
    (tmp_path / "whole.json").write_bytes(b"as before")
    said = fill(tmp_path, 10_000)
    rows = read_jsonl(tmp_path / "full.jsonl")
    assert [row["number"] for row in rows] == list(range(13))
    assert said.count("cannot be written: File too large") == 2
    assert (tmp_path / "whole.json").read_bytes() == b"as before"
    assert {file.name for file in tmp_path.iterdir()} == {"full.jsonl", "whole.json"}


# A torn last line


def test_wherever_a_line_is_torn_the_next_append_starts_a_line_of_its_own_and_no_byte_is_lost(path: Path):
    whole, last = b'{"a":1}\n', orjson.dumps({"b": "é\\", "c": [{}]}) + b"\n"
    for cut in range(len(last) + 1):
        path.write_bytes(whole + last[:cut])
        backup = mend_tail(path)
        journal = Journal(path)
        journal.append({"d": 4})
        journal.close()
        kept = last[:cut] if cut >= len(last) - 1 else b""
        assert path.read_bytes() == whole + kept.rstrip() + (b"\n" if kept else b"") + b'{"d":4}\n'
        assert (b"" if backup is None else backup.read_bytes()) == (b"" if kept else last[:cut])


def test_a_last_line_that_only_lacks_its_line_end_is_given_it(path: Path):
    path.write_bytes(b'{"a":1}\n{"a":2}')
    assert mend_tail(path) is None
    assert path.read_bytes() == b'{"a":1}\n{"a":2}\n'


def test_half_a_line_goes_into_a_file_beside_it(path: Path):
    path.write_bytes(b'{"a":1}\n{"a":"torn')
    assert mend_tail(path) == path.with_name("x.jsonl.torn-8")
    assert path.read_bytes() == b'{"a":1}\n'
    assert path.with_name("x.jsonl.torn-8").read_bytes() == b'{"a":"torn'


def test_a_file_of_nothing_but_half_a_line_becomes_empty(path: Path):
    path.write_bytes(b'{"a')
    backup = mend_tail(path)
    assert path.read_bytes() == b""
    assert backup is not None
    assert backup.read_bytes() == b'{"a'


@pytest.mark.parametrize("whole", [b"", b'{"a":1}\n' * 3])
def test_half_a_line_may_be_longer_than_what_is_read_at_once(path: Path, whole: bytes):
    tail = b'{"a":"' + b"x" * (5 << 19)
    path.write_bytes(whole + tail)
    backup = mend_tail(path)
    assert path.read_bytes() == whole
    assert backup is not None
    assert backup.read_bytes() == tail


@pytest.mark.parametrize("content", [b"", b'{"a":1}\n', b'{"a":1}\nbroken\n{"a":2}\n'])
def test_a_file_that_ends_in_a_line_end_is_left_as_it_is(path: Path, content: bytes):
    path.write_bytes(content)
    assert mend_tail(path) is None
    assert path.read_bytes() == content


def test_there_is_nothing_to_mend_where_there_is_no_file(path: Path):
    assert mend_tail(path) is None
    assert not path.exists()
