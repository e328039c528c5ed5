# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON lines on disk, read line by line."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from gym_host.errors import UserError
from gym_host.jsonl import read_lines, sort_lines


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.jsonl"


def test_lines_are_split_at_the_line_feed_byte_and_nothing_else(path: Path):
    texts = ["a\u2028b", "a\u2029b", "a\x85b", "a\x0bb\x0cc", "a\x1cb"]
    path.write_bytes(b"".join(orjson.dumps({"text": text}) + b"\n" for text in texts) + b'{"text":"dos"}\r\n')
    assert [line.value["text"] for line in read_lines(path)] == [*texts, "dos"]


def test_each_line_knows_its_number_its_offset_and_its_length_with_blank_lines_counted(path: Path):
    content = b'{"a":1}\n\n  \n{"a":22}\n{"a":"\xc3\xa9"}'
    path.write_bytes(content)
    lines = list(read_lines(path))
    assert [line.number for line in lines] == [1, 4, 5]
    assert [content[line.offset :][: line.length].strip() for line in lines] == [b'{"a":1}', b'{"a":22}', b'{"a":"\xc3\xa9"}']


@pytest.mark.parametrize("broken", [b'{"a":', b"{'a': 1}", b'{"a":"\xff"}', b'{"a":1}{"a":2}', b"[1]", b"1", b"\x00\x00"])
def test_a_broken_line_in_the_middle_is_named_by_file_and_line(path: Path, broken: bytes):
    path.write_bytes(b'{"a":1}\n\n' + broken + b'\n{"a":2}\n')
    with pytest.raises(UserError) as caught:
        list(read_lines(path))
    assert caught.value.where == f"{path}, line 3"
    assert re.findall(r"line (\d+)", str(caught.value)) == ["3"]


@pytest.mark.parametrize("half", [b'{"a":', b'{"a":"\xc3', b"{", b'{"a":"b'])
def test_half_a_last_line_is_left_out_where_that_is_asked_for_and_told(path: Path, half: bytes):
    path.write_bytes(b'{"a":1}\n{"a":2}\n' + half)
    told: list[Path] = []
    assert [line.value["a"] for line in read_lines(path, torn=told.append)] == [1, 2]
    assert told == [path]
    with pytest.raises(UserError, match="line 3"):
        list(read_lines(path))


@pytest.mark.parametrize("end", [b'{"a":2}', b"  "])
def test_what_lacks_only_its_line_end_and_what_is_broken_before_the_end_are_no_half_of_a_last_line(path: Path, end: bytes):
    told: list[Path] = []
    path.write_bytes(b'{"a":1}\n' + end)
    assert len(list(read_lines(path, torn=told.append))) == (2 if end.strip() else 1)
    path.write_bytes(b'{"a":\n' + end)
    with pytest.raises(UserError, match="line 1"):
        list(read_lines(path, torn=told.append))
    assert told == []


def test_the_lines_before_a_broken_one_can_be_read(path: Path):
    path.write_bytes(b'{"a":1}\n{"a":2}\noops\n')
    lines = read_lines(path)
    assert [next(lines).value["a"], next(lines).value["a"]] == [1, 2]


def test_a_file_that_is_not_there_or_a_folder_cannot_be_read(tmp_path: Path):
    with pytest.raises(UserError, match=r"gone.jsonl cannot be read: No such file"):
        list(read_lines(tmp_path / "gone.jsonl"))
    with pytest.raises(UserError, match="cannot be read"):
        list(read_lines(tmp_path))


def test_lines_are_put_into_another_order_byte_for_byte(path: Path):
    path.write_bytes(b'{"n":  3}\n{"n":1}\n{"n":22}\n')
    lines = {line.value["n"]: (line.offset, line.length) for line in read_lines(path)}
    sort_lines(path, [lines[number] for number in sorted(lines)])
    assert path.read_bytes() == b'{"n":1}\n{"n":  3}\n{"n":22}\n'
