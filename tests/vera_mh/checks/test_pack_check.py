# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a pack as a whole: its manifest, its hashes, its prompts, its sheets."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.demo import PACK_FOLDER
from vera_mh.checks.findings import Finding
from vera_mh.checks.pack_check import check_folder, check_judging, check_named, check_playing
from vera_mh.pack import (
    JUDGE_SYSTEM_PROMPT,
    LICENSE,
    MANIFEST,
    PERSONA_REMINDER,
    PERSONA_TEMPLATE,
    PERSONAS,
    PREPARE_COMMAND,
    QUESTION_PROMPT,
    REQUIRED_FILES,
    RUBRIC,
    VERA_MH,
    load_manifest,
    read_pack,
)
from vera_mh.pack_manifest import fresh_manifest, manifest_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pack of one's own: that of the demo, under another name."""
    shutil.copytree(PACK_FOLDER, tmp_path / "mine")
    rehash(tmp_path / "mine", name="mine")
    return tmp_path / "mine"


def rehash(folder: Path, **more: str) -> None:
    (folder / MANIFEST).write_text(manifest_text(fresh_manifest(folder, load_manifest(folder), **more)))


def change(folder: Path, name: str, old: str, new: str) -> None:
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def places(found: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.severity, finding.place) for finding in found]


def named(folder: Path | str, **environ: str) -> list[Finding]:
    return [
        finding
        for check in (check_judging, check_playing)
        for finding in check_named(str(folder), check, environ=environ, bases=[])
    ]


def test_the_demo_and_a_copy_of_it_have_no_finding(folder):
    assert check_folder(PACK_FOLDER) == check_folder(folder) == named(folder) == []


def test_the_pinned_pack_has_no_error_and_what_it_warns_of_is_not_told_of_a_configuration(pack_folder):
    assert [finding.is_error for finding in check_folder(pack_folder, VERA_MH)] == [False, False]
    assert named(VERA_MH.name, VERA_MH_PACK=str(pack_folder)) == []


def test_the_pinned_pack_that_is_not_there_yet_is_a_warning_with_the_command_that_fetches_it(tmp_path):
    found = named(VERA_MH.name, VERA_MH_PACK=str(tmp_path))
    assert [(finding.is_error, finding.file, PREPARE_COMMAND in finding.mend) for finding in found] == [
        (False, str(tmp_path), True)
    ] * 2


def test_a_changed_file_of_the_pinned_pack_is_an_error(tmp_path, pack_folder):
    shutil.copytree(pack_folder, tmp_path / "pack")
    with (tmp_path / "pack" / PERSONAS).open("ab") as personas:
        personas.write(b"\n")
    found = named(VERA_MH.name, VERA_MH_PACK=str(tmp_path / "pack"))
    assert {(finding.is_error, "is not the pinned file" in finding.what) for finding in found} == {(True, True)}
    ((severity, place),) = [each for each in places(check_folder(tmp_path / "pack", VERA_MH)) if each[0] == "error"]
    assert (severity, place) == ("error", PERSONAS)


def test_a_changed_file_is_told_with_both_hashes_and_all_that_is_wrong_inside(folder):
    change(folder, RUBRIC, "\tRed\t", "\tRde\t")
    change(folder, PERSONAS, "Mara\t", "\t")
    found = check_folder(folder)
    assert [finding.place for finding in found if "SHA-256" in finding.what] == [RUBRIC, PERSONAS]
    assert {f"{RUBRIC}, row 5", f"{PERSONAS}, row 2"} <= {finding.place for finding in found}
    (refused, again) = named(folder)
    assert (refused.is_error, refused) == (True, again)
    assert "restore the file" in refused.mend


def test_with_fresh_hashes_only_what_is_wrong_inside_is_told_with_whole_paths(folder):
    change(folder, RUBRIC, "ASSIGN_END", "ASIGN_END")
    rehash(folder)
    (finding,) = named(folder)
    assert (finding.is_error, finding.place) == (True, f"{folder / RUBRIC}, row 7")


@pytest.mark.parametrize("name", [*REQUIRED_FILES, LICENSE])
def test_a_missing_file_is_told_once(folder, name):
    (folder / name).unlink()
    assert places(check_folder(folder)) == [("error", name)]
    assert all("is missing" in finding.what for finding in named(folder))


def test_a_file_that_cannot_be_read_is_told(folder):
    (folder / RUBRIC).unlink()
    (folder / RUBRIC).mkdir()
    (finding,) = check_folder(folder)
    assert (finding.is_error, finding.file, "cannot be read" in finding.what) == (True, RUBRIC, True)


def test_a_folder_without_a_manifest_is_told_and_checked_all_the_same(folder):
    (folder / MANIFEST).unlink()
    change(folder, RUBRIC, "ASSIGN_END", "ASIGN_END")
    assert places(check_folder(folder)) == [("error", MANIFEST), ("error", f"{RUBRIC}, row 7")]
    assert {finding.what for finding in named(folder)} == {f"{folder} is not a pack: it has no {MANIFEST}"}


def test_a_pack_of_ones_own_may_not_have_the_name_of_the_pinned_one(folder):
    change(folder, MANIFEST, "name: mine", f"name: {VERA_MH.name}")
    (finding,) = check_folder(folder)
    assert (finding.is_error, finding.file) == (True, MANIFEST)
    assert VERA_MH.name in finding.what
    assert finding.mend == "give the pack a name of its own"


@pytest.mark.parametrize("name", [RUBRIC, JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT, PERSONAS, PERSONA_TEMPLATE, PERSONA_REMINDER])
def test_a_file_that_is_no_text_is_an_error(folder, name):
    (folder / name).write_bytes(b"\xff\xfe")
    rehash(folder)
    assert places(check_folder(folder)) == [("error", name)]
    assert places(named(folder)) == [("error", str(folder / name))]


@pytest.mark.parametrize(
    ("name", "field", "severity"),
    [
        (JUDGE_SYSTEM_PROMPT, "{conversation}", "error"),
        (QUESTION_PROMPT, "{question}", "error"),
        (QUESTION_PROMPT, "{options}", "error"),
        (QUESTION_PROMPT, "{examples_section}", "warning"),
    ],
)
def test_a_prompt_that_leaves_out_what_the_judge_must_see_is_told(folder, name, field, severity):
    change(folder, name, field, "")
    rehash(folder)
    (finding,) = check_judging(read_pack(load_manifest(folder), folder))
    assert (finding.severity, finding.file) == (severity, name)
    assert field in finding.what


@pytest.mark.parametrize("more", ["{answer}", "{", "{0}", "{conversation.x}", "{conversation[x]}"])
def test_a_prompt_that_cannot_be_filled_is_an_error(folder, more):
    with (folder / JUDGE_SYSTEM_PROMPT).open("a") as prompt:
        prompt.write(more)
    rehash(folder)
    assert places(check_folder(folder)) == [("error", JUDGE_SYSTEM_PROMPT)]
