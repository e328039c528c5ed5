# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are replaced as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_host.atomic import write_json, write_whole
from gym_host.errors import OutputError


def test_a_file_is_replaced_as_a_whole_and_its_folder_made(tmp_path: Path):
    path = tmp_path / "new" / "folder" / "x.json"
    write_json(path, {"a": [1]})
    write_json(path, {"b": None})
    assert json.loads(path.read_text()) == {"b": None}
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(path.parent.iterdir()) == [path]


def test_a_link_stays_a_link_and_the_file_behind_it_is_replaced(tmp_path: Path):
    link, path = tmp_path / "x.json", tmp_path / "elsewhere" / "y.json"
    link.symlink_to(path)
    for value in ({"a": 1}, {"b": 2}):
        write_json(link, value)
        assert link.is_symlink()
        assert json.loads(path.read_text()) == value


def test_what_cannot_be_finished_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_bytes(b"old")

    def parts() -> Iterator[bytes]:
        yield b"new"
        raise ValueError("the second part cannot be made")

    with pytest.raises(ValueError, match="second part"):
        write_whole(path, parts())
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_made_is_an_output_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot be written"):
        write_json(tmp_path / "file" / "x.json", {})
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match="is a file, or a link to nothing"):
        write_json(tmp_path / "link" / "x.json", {})
