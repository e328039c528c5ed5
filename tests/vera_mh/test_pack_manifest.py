# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A manifest made from the files of a folder."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.demo import PACK_FOLDER, demo_pack
from vera_mh.errors import PackError
from vera_mh.pack import LICENSE, MANIFEST, REQUIRED_FILES, RUBRIC, Manifest, load_manifest, read_pack
from vera_mh.pack_manifest import fresh_manifest, manifest_text

WHAT = {"name": "mine", "rubric_version": "7", "repository": "here", "revision": "2"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of a pack without a manifest."""
    for name in (*REQUIRED_FILES, LICENSE):
        shutil.copy(PACK_FOLDER / name, tmp_path / name)
    return tmp_path


def made(folder: Path) -> Manifest:
    return fresh_manifest(folder, name="mine", rubric_version="7", repository="here", revision="2")


def test_the_manifest_of_the_demo_is_what_would_be_made_of_its_files():
    manifest = load_manifest(PACK_FOLDER)
    assert fresh_manifest(PACK_FOLDER, manifest) == manifest


def test_a_written_manifest_makes_a_folder_a_pack(folder):
    (folder / MANIFEST).write_text(manifest_text(made(folder)))
    pack = read_pack(load_manifest(folder), folder)
    assert {key: getattr(pack.manifest, key) for key in WHAT} == WHAT
    assert pack.manifest.sha256 == demo_pack().manifest.sha256
    assert pack.manifest.digest == demo_pack().manifest.digest


def test_what_is_not_given_is_taken_from_the_manifest_there_is(folder):
    known = made(folder)
    (folder / RUBRIC).write_text("other")
    (folder / LICENSE).unlink()
    (folder / "notes.txt").write_text("notes")
    fresh = fresh_manifest(folder, listing_also(known, "notes.txt"), revision="3")
    assert (fresh.name, fresh.revision) == ("mine", "3")
    assert set(fresh.sha256) == {*REQUIRED_FILES, "notes.txt"}
    assert fresh.sha256[RUBRIC] != known.sha256[RUBRIC]


def listing_also(known: Manifest, name: str) -> Manifest:
    return replace(known, sha256={file: sha for file, sha in known.sha256.items() if file != LICENSE} | {name: "0"})


def test_a_manifest_that_nothing_is_known_of_asks_for_what_it_lacks(folder):
    with pytest.raises(PackError, match="name, rubric version, repository.* unknown"):
        fresh_manifest(folder, revision="1")


def test_a_file_that_is_missing_is_named(folder):
    (folder / RUBRIC).unlink()
    with pytest.raises(PackError, match=r"rubric\.tsv cannot be read: No such file"):
        made(folder)
