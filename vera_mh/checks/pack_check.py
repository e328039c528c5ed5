# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a pack: with its files as such, and with what stands in them.

Opening a pack (`vera_mh.pack.open_pack`) stops at the first file that is not the one of the manifest, and reads sheets as
leniently as upstream does. Checking one tells all at once, and also what is read without complaint and yet hardly meant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vera_mh.checks.findings import ERROR, WARNING, Finding
from vera_mh.checks.persona_check import check_personas
from vera_mh.checks.rubric_check import check_rubric
from vera_mh.errors import PackError
from vera_mh.fetch import missing_files
from vera_mh.pack import (
    JUDGE_SYSTEM_PROMPT,
    MANIFEST,
    PERSONA_REMINDER,
    PERSONA_TEMPLATE,
    PERSONAS,
    PREPARE_COMMAND,
    QUESTION_PROMPT,
    REQUIRED_FILES,
    RUBRIC,
    VERA_MH,
    Manifest,
    Pack,
    load_manifest,
    open_pack,
    pack_folder,
)

_REFETCH = f"`{PREPARE_COMMAND}` fetches what is missing"
_REHASH = f"undo the change, or write the new hash into {MANIFEST} (`gym tool vera_mh pack hash FOLDER --write` does)"


def check_folder(folder: Path, manifest: Manifest | None = None) -> list[Finding]:
    """All that is wrong with the pack in a folder.

    Args:
        folder: Where it lies.
        manifest: What it must be; None to read the folder's own `manifest.yaml`.
    """
    found: list[Finding] = []
    if manifest is None:
        try:
            manifest = load_manifest(folder)
        except PackError as error:
            found.append(_refused(error, MANIFEST))
    contents = {name: content for name in REQUIRED_FILES if (content := _content(folder / name)) is not None}
    mend = _REFETCH if manifest is VERA_MH else "every pack has it; take that of the demo's pack as a start"
    missing = [name for name in REQUIRED_FILES if name not in contents]
    found += [Finding(ERROR, name, None, _unread(folder / name), mend) for name in missing]
    found += [*_hashes(folder, manifest)] if manifest else []
    pack = Pack(manifest or _NOBODY, folder, contents)
    return [*found, *check_judging(pack), *check_playing(pack)]


def check_named(
    pack: str, check: Callable[[Pack], list[Finding]], *, environ: Mapping[str, str], bases: Sequence[Path]
) -> list[Finding]:
    """All that is wrong with one side of the pack that a configuration names, whose files must be those of its manifest.

    Args:
        pack: As in `vera_mh.pack.open_pack`.
        check: `check_judging` or `check_playing`.
        environ: As in `open_pack`.
        bases: As in `open_pack`.

    Returns:
        The findings, with whole paths. Of the pinned pack only errors: what it warns of is nobody's to change here.
    """
    folder = pack_folder(pack, environ=environ, bases=bases)
    pinned = pack == VERA_MH.name
    if pinned and (missing := missing_files(VERA_MH, folder)):
        what = f"the pinned pack is not there yet: {len(missing)} of its {len(VERA_MH.sha256)} files are missing"
        return [Finding(WARNING, str(folder), None, what, f"run `{PREPARE_COMMAND}`")]
    try:
        opened = open_pack(pack, environ=environ, bases=bases)
    except PackError as error:
        return [_refused(error, str(folder))]
    found = [replace(finding, file=str(folder / finding.file)) for finding in check(opened)]
    return [finding for finding in found if finding.is_error or not pinned]


def _refused(error: PackError, file: str) -> Finding:
    what, _, mend = str(error).partition("\n  to mend it: ")
    return Finding(ERROR, file, None, what, mend or "`gym tool vera_mh pack hash FOLDER --write` writes a manifest")


_NOBODY = Manifest(name="", rubric_version="", repository="", revision="", sha256={})


def _hashes(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    for name, expected in manifest.sha256.items():
        content = _content(folder / name)
        if content is None:
            if name not in REQUIRED_FILES:
                mend = _REFETCH if manifest is VERA_MH else f"restore it, or take it out of {MANIFEST}"
                yield Finding(ERROR, name, None, _unread(folder / name), mend)
            continue
        digest = hashlib.sha256(content).hexdigest()
        if digest != expected:
            mend = f"remove it; {_REFETCH}" if manifest is VERA_MH else _REHASH
            yield Finding(ERROR, name, None, f"its SHA-256 is {digest}, and {expected} was expected", mend)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _unread(path: Path) -> str:
    return f"the file cannot be read in {path.parent}" if path.exists() else f"the file is not in {path.parent}"


def check_judging(pack: Pack) -> list[Finding]:
    """All that is wrong with what the judge works with: the rubric and its prompts. Files that are not there are passed over."""
    texts, found = _texts(pack, RUBRIC, JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT)
    if RUBRIC in texts:
        found += check_rubric(texts[RUBRIC])
    if JUDGE_SYSTEM_PROMPT in texts:
        found += _prompt(JUDGE_SYSTEM_PROMPT, texts[JUDGE_SYSTEM_PROMPT], {"conversation": ERROR})
    if QUESTION_PROMPT in texts:
        fields = {"question": ERROR, "options": ERROR, "examples_section": WARNING}
        found += _prompt(QUESTION_PROMPT, texts[QUESTION_PROMPT], fields)
    return found


def check_playing(pack: Pack) -> list[Finding]:
    """All that is wrong with what a user simulator works with: the personas and their prompts."""
    texts, found = _texts(pack, PERSONAS, PERSONA_TEMPLATE, PERSONA_REMINDER)
    if PERSONAS in texts and PERSONA_TEMPLATE in texts:
        found += check_personas(texts[PERSONAS], texts[PERSONA_TEMPLATE])
    return found


def _texts(pack: Pack, *names: str) -> tuple[dict[str, str], list[Finding]]:
    texts: dict[str, str] = {}
    found: list[Finding] = []
    for name in names:
        try:
            if name in pack.contents:
                texts[name] = pack.text(name)
        except PackError:
            found.append(Finding(ERROR, name, None, "the file is no UTF-8 text", "save it as UTF-8"))
    return texts, found


def _prompt(file: str, template: str, fields: Mapping[str, str]) -> Iterator[Finding]:
    """What is wrong with a prompt template.

    Args:
        file: Its name.
        template: Its text.
        fields: What is put into it, and how grave it is that one of them is not used.
    """
    try:
        filled = template.format(**{name: f"\0{name}\0" for name in fields})
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        known = ", ".join(f"{{{name}}}" for name in fields)
        mend = f"what can stand between braces is {known}; double a brace that is only text"
        yield Finding(ERROR, file, None, f"the template cannot be filled: {error}", mend)
        return
    for name, severity in fields.items():
        if f"\0{name}\0" not in filled:
            yield Finding(
                severity, file, None, f"the template has no {{{name}}}, so the judge never sees it", f"write {{{name}}} into it"
            )
