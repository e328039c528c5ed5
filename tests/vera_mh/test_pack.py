# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which files make up a pack, where they lie, and what is said when one is not the pinned one."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.demo import PACK_FOLDER
from vera_mh.errors import PackError
from vera_mh.pack import (
    LICENSE,
    PERSONAS,
    PREPARE_COMMAND,
    REQUIRED_FILES,
    RUBRIC,
    VERA_MH,
    Manifest,
    load_manifest,
    open_pack,
    read_pack,
    vera_mh_folder,
)

CONTENTS = {name: f"line of {name}\r\nlast line".encode() for name in (*REQUIRED_FILES, LICENSE)}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of a pack, without a manifest."""
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.fixture
def pinned() -> Manifest:
    """The manifest of VERA-MH with the hashes of the files in the folder above."""
    return replace(VERA_MH, sha256={name: sha256(content) for name, content in CONTENTS.items()})


def manifest_values() -> dict[str, object]:
    files = {name: sha256(content) for name, content in CONTENTS.items()}
    return {"name": "mine", "rubric_version": 7, "repository": "r", "revision": "abc", "files": files}


def write_manifest(folder: Path, values: object) -> None:
    (folder / "manifest.yaml").write_text(yaml.safe_dump(values))


def test_the_real_pack_is_read_and_says_what_it_is(pack):
    assert pack.about() == {
        "pack": "vera_mh_v1.2",
        "pack_sha256": VERA_MH.digest,
        "rubric_version": "v1.2.0",
        "upstream_revision": "2c9d1fcbb68e1a2df64171c18b3e4d4c18b2f89e",
    }
    assert set(pack.contents) == {*REQUIRED_FILES, LICENSE}


def test_bytes_are_verified_as_stored_and_read_with_plain_line_ends(folder, pinned):
    pack = read_pack(pinned, folder)
    assert pack.contents[RUBRIC] == CONTENTS[RUBRIC]
    assert pack.text(RUBRIC) == "line of rubric.tsv\nlast line"


@pytest.mark.parametrize("name", CONTENTS)
def test_a_file_that_differs_by_one_byte_is_refused_with_file_both_hashes_and_command(folder, pinned, name):
    drifted = CONTENTS[name] + b"\n"
    (folder / name).write_bytes(drifted)
    with pytest.raises(PackError) as caught:
        read_pack(pinned, folder)
    for part in (str(folder / name), sha256(drifted), sha256(CONTENTS[name]), PREPARE_COMMAND, "VERA_MH_PACK"):
        assert part in str(caught.value)
    assert "remove it" in str(caught.value)


def test_a_file_with_converted_line_ends_is_refused(folder, pinned):
    (folder / RUBRIC).write_bytes(CONTENTS[RUBRIC].replace(b"\r\n", b"\n"))
    with pytest.raises(PackError, match=RUBRIC):
        read_pack(pinned, folder)


@pytest.mark.parametrize("name", CONTENTS)
def test_a_missing_file_is_named_with_the_command_that_fetches_it(folder, pinned, name):
    (folder / name).unlink()
    with pytest.raises(PackError) as caught:
        read_pack(pinned, folder)
    assert str(caught.value).startswith(f"{folder / name} is missing")
    assert PREPARE_COMMAND in str(caught.value)


def test_a_file_that_cannot_be_read_is_named_with_the_reason(folder, pinned):
    (folder / RUBRIC).unlink()
    (folder / RUBRIC).mkdir()
    with pytest.raises(PackError, match=r"rubric\.tsv cannot be read \(Is a directory\)"):
        read_pack(pinned, folder)


def test_of_a_pack_of_ones_own_the_mend_is_its_manifest_and_not_the_download(folder):
    write_manifest(folder, manifest_values())
    (folder / PERSONAS).write_bytes(b"other")
    with pytest.raises(PackError) as caught:
        open_pack(str(folder), environ={}, bases=[Path("/")])
    assert str(folder / "manifest.yaml") in str(caught.value)
    assert sha256(b"other") in str(caught.value)
    assert PREPARE_COMMAND not in str(caught.value)


def test_the_digest_of_a_pack_hangs_on_every_name_and_hash_and_not_on_their_order():
    backwards = replace(VERA_MH, sha256=dict(reversed(list(VERA_MH.sha256.items()))))
    assert backwards.digest == VERA_MH.digest
    others = {replace(VERA_MH, sha256={**VERA_MH.sha256, name: "0" * 64}).digest for name in VERA_MH.sha256}
    without = {replace(VERA_MH, sha256={key: sha for key, sha in VERA_MH.sha256.items() if key != LICENSE}).digest}
    assert len(others | without | {VERA_MH.digest}) == len(VERA_MH.sha256) + 2


def test_the_folder_is_the_one_that_the_environment_names_else_one_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert vera_mh_folder({"VERA_MH_PACK": "/data/pack"}) == Path("/data/pack")
    assert vera_mh_folder({"VERA_MH_PACK": "~/pack"}) == tmp_path / "pack"
    cached = vera_mh_folder({"VERA_MH_PACK": " "})
    assert cached == vera_mh_folder({})
    assert cached.parts[-2:] == ("vera-mh", "2c9d1fc")


def test_the_real_pack_is_opened_by_its_name(pack_folder):
    opened = open_pack("vera_mh_v1.2", environ={"VERA_MH_PACK": str(pack_folder)}, bases=[])
    assert opened.manifest is VERA_MH
    assert opened.folder == pack_folder


def test_a_relative_folder_is_looked_for_under_each_base_in_order(folder, tmp_path_factory):
    write_manifest(folder, manifest_values())
    empty = tmp_path_factory.mktemp("empty")
    opened = open_pack(folder.name, environ={}, bases=[empty, folder.parent])
    assert opened.folder == folder
    assert (opened.manifest.name, opened.manifest.rubric_version) == ("mine", "7")
    with pytest.raises(PackError, match=str(empty / "nowhere")):
        open_pack("nowhere", environ={}, bases=[empty, folder.parent])


def test_the_demo_pack_is_a_pack():
    assert load_manifest(PACK_FOLDER).name == "vera-mh-demo"


def test_a_folder_without_a_manifest_is_no_pack(tmp_path):
    with pytest.raises(PackError, match=r"is not a pack: it has no manifest\.yaml"):
        load_manifest(tmp_path)


@pytest.mark.parametrize("content", [b"name: [", b"name: \xff"])
def test_a_manifest_that_is_no_yaml_text_is_named(tmp_path, content):
    (tmp_path / "manifest.yaml").write_bytes(content)
    with pytest.raises(PackError, match=r"manifest\.yaml cannot be read"):
        load_manifest(tmp_path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"files": [RUBRIC]}, "a manifest is a mapping with the keys name, rubric_version, repository, revision, files"),
        ({"revision": ""}, "lacks revision"),
        ({"files": {RUBRIC: "0"}}, "lacks rubric_prompt_beginning.txt, question_prompt.txt"),
        ({"files": {**dict.fromkeys(REQUIRED_FILES, "0"), "../secret": "0"}}, "../secret does not"),
    ],
)
def test_a_manifest_that_lacks_something_or_leaves_its_folder_is_refused(tmp_path, change, complaint):
    write_manifest(tmp_path, manifest_values() | change)
    with pytest.raises(PackError) as caught:
        load_manifest(tmp_path)
    assert complaint in str(caught.value)
    assert str(tmp_path / "manifest.yaml") in str(caught.value)
