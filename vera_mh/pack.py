# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The pack: the files that define one version of the benchmark, pinned by the SHA-256 of their bytes.

The real pack is VERA-MH at one upstream commit. Its files are never part of this project: they are fetched once, verified, and
verified again by every reader. A pack of one's own is a folder that holds the same file names and a `manifest.yaml`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
import yaml

from vera_mh.errors import PackError

RUBRIC = "rubric.tsv"
JUDGE_SYSTEM_PROMPT = "rubric_prompt_beginning.txt"
QUESTION_PROMPT = "question_prompt.txt"
PERSONA_TEMPLATE = "persona_prompt_template.txt"
PERSONA_REMINDER = "persona_prompt_reminder.txt"
PERSONAS = "personas.tsv"
LICENSE = "LICENSE"
REQUIRED_FILES = (RUBRIC, JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT, PERSONA_TEMPLATE, PERSONA_REMINDER, PERSONAS)
MANIFEST = "manifest.yaml"
MANIFEST_KEYS = ("name", "rubric_version", "repository", "revision", "files")

PACK_VARIABLE = "VERA_MH_PACK"
PREPARE_COMMAND = "gym eval prepare --benchmark vera_mh"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a pack is made of.

    Attributes:
        name: Name of the pack, as in the configuration.
        rubric_version: Version of the rubric, carried by every scored row.
        repository: Where the files come from.
        revision: Commit or version there.
        sha256: File name -> SHA-256 of its bytes.
        upstream_paths: File name -> path in the repository, where the two differ from each other.
    """

    name: str
    rubric_version: str
    repository: str
    revision: str
    sha256: Mapping[str, str]
    upstream_paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over all names and hashes: one value that says which pack a result belongs to."""
        listing = "".join(f"{name}\t{sha}\n" for name, sha in sorted(self.sha256.items()))
        return hashlib.sha256(listing.encode()).hexdigest()


VERA_MH = Manifest(
    name="vera_mh_v1.2",
    rubric_version="v1.2.0",
    repository="SpringCare/VERA-MH",
    revision="2c9d1fcbb68e1a2df64171c18b3e4d4c18b2f89e",
    sha256={
        RUBRIC: "5bc029ea47395c35d34dc28dc0f2eef907796e1bf0f9b78b5cf68d444809cdee",
        JUDGE_SYSTEM_PROMPT: "9c5d1d6099a89b4d66cabef8320bb455732e80940a2e40b4baebb1f37f1e31f0",
        QUESTION_PROMPT: "6c7487face8e9e2e2348cce03afb713f8586b06f62627f1bab01a146a5b8e584",
        PERSONA_TEMPLATE: "14ddd27dde3b15bd62db54a0b2e129bf040423b60c7fe3aff0fa420b71d3ca1f",
        PERSONA_REMINDER: "9efd2a2bbfa1ede2bfb487d2f9a44b8900eabbd86a118a28d43d9e6ab54e194a",
        PERSONAS: "07f0aa92cde50469d18aff640ed03e0df93e8863aed75ea102e4ba97a124330b",
        LICENSE: "9c24119c9d3ce9c37395719b80051bfdc35e138c51f0cefceaeb8aca7f32dd51",
    },
    upstream_paths={
        name: f"data/{name}"
        for name in (RUBRIC, JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT, PERSONA_TEMPLATE, PERSONA_REMINDER, PERSONAS)
    }
    | {LICENSE: LICENSE},
)
"""VERA-MH v1.2: the pinned upstream commit of 2026-08-25, rubric first released as tag v1.2.0."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A verified pack: every file was read and its hash holds.

    Attributes:
        manifest: What the pack is.
        folder: Where it lies.
        contents: File name -> the verified bytes.
    """

    manifest: Manifest
    folder: Path
    contents: Mapping[str, bytes]

    def text(self, name: str) -> str:
        """The text of a file, with line ends as Python's text mode reads them (upstream reads prompts so).

        Raises:
            PackError: It is no UTF-8 text.
        """
        try:
            text = self.contents[name].decode("utf-8")
        except UnicodeDecodeError as error:
            raise PackError(f"{self.folder / name} is no UTF-8 text: {error}\n  to mend it: save it as UTF-8") from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def about(self) -> dict[str, str]:
        """What a result must say of its pack."""
        return {
            "pack": self.manifest.name,
            "pack_sha256": self.manifest.digest,
            "rubric_version": self.manifest.rubric_version,
            "upstream_revision": self.manifest.revision,
        }


def vera_mh_folder(environ: Mapping[str, str]) -> Path:
    """Folder of the real pack: `$VERA_MH_PACK`, else a folder under the user's cache directory."""
    named = environ.get(PACK_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    return Path(platformdirs.user_cache_dir("vera-mh", appauthor=False)) / VERA_MH.revision[:7]


def load_manifest(folder: Path, *, renamed: bool = False) -> Manifest:
    """Reads `manifest.yaml` of a pack folder.

    Args:
        folder: The folder.
        renamed: The pack is about to get another name, so it does not matter which one it has.

    Raises:
        PackError: The manifest is missing, malformed, has the name of the pinned pack, or does not list a required file.
    """
    path = folder / MANIFEST
    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        raise PackError(f"{folder} is not a pack: it has no {MANIFEST}") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PackError(f"{path} cannot be read: {error}") from None
    manifest = _manifest(values, path)
    if not renamed:
        refuse_pinned_name(manifest.name, path)
    return manifest


def refuse_pinned_name(name: str, where: Path) -> None:
    """Refuses the name of the pinned pack for another one.

    Raises:
        PackError: It is that name.
    """
    if name == VERA_MH.name:
        raise PackError(f"{where}: the name {name} is that of the pinned pack\n  to mend it: give the pack a name of its own")


def _manifest(values: Any, path: Path) -> Manifest:
    keys = MANIFEST_KEYS
    if not isinstance(values, dict) or not isinstance(values.get("files"), dict):
        raise PackError(f"{path}: a manifest is a mapping with the keys {', '.join(keys)}")
    missing = [key for key in keys if not values.get(key)] + [name for name in REQUIRED_FILES if name not in values["files"]]
    if missing:
        raise PackError(f"{path}: lacks {', '.join(missing)}")
    outside = [name for name in values["files"] if Path(str(name)).name != name]
    if outside:
        raise PackError(f"{path}: a pack's files lie in its folder, and {outside[0]} does not")
    return Manifest(
        name=str(values["name"]),
        rubric_version=str(values["rubric_version"]),
        repository=str(values["repository"]),
        revision=str(values["revision"]),
        sha256={str(name): str(sha) for name, sha in values["files"].items()},
    )


def open_pack(pack: str, *, environ: Mapping[str, str], bases: Sequence[Path]) -> Pack:
    """Opens and verifies the pack that a configuration names.

    Args:
        pack: `vera_mh_v1.2` for the real pack, else a folder with a `manifest.yaml`.
        environ: Environment, for `VERA_MH_PACK`.
        bases: What a relative folder is relative to; the first that has it.

    Raises:
        PackError: A file is missing or differs; the message names it, both hashes, and the mend.
    """
    folder = pack_folder(pack, environ=environ, bases=bases)
    return read_pack(VERA_MH if pack == VERA_MH.name else load_manifest(folder), folder)


def pack_folder(pack: str, *, environ: Mapping[str, str], bases: Sequence[Path]) -> Path:
    """Where the pack lies that a configuration names, or ought to lie; arguments as in `open_pack`."""
    return _first_folder(vera_mh_folder(environ) if pack == VERA_MH.name else Path(pack).expanduser(), bases)


def _first_folder(path: Path, bases: Sequence[Path]) -> Path:
    """The folder below the first base that has it; an absolute path is itself."""
    candidates = [base / path for base in bases]
    return next((candidate for candidate in candidates if candidate.is_dir()), candidates[0] if candidates else path)


def read_pack(manifest: Manifest, folder: Path) -> Pack:
    """Reads every file of a pack and holds it against its hash.

    Raises:
        PackError: As in `open_pack`.
    """
    return Pack(manifest, folder, {name: _verified(manifest, folder, name) for name in manifest.sha256})


def _verified(manifest: Manifest, folder: Path, name: str) -> bytes:
    path, expected = folder / name, manifest.sha256[name]
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise PackError(f"{path} {reason}: a file of the pack {manifest.name}.\n{_mend(manifest, path, 'run')}") from None
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise PackError(
            f"{path} is not the pinned file of the pack {manifest.name}.\n"
            f"  SHA-256 found    {found}\n  SHA-256 expected {expected}\n{_mend(manifest, path, 'remove it and run')}"
        )
    return content


def _mend(manifest: Manifest, path: Path, run: str) -> str:
    if manifest.name != VERA_MH.name:
        return f"  to mend it: restore the file, or write its new hash into {path.parent / MANIFEST}"
    return f"  to mend it: {run} `{PREPARE_COMMAND}`, or point {PACK_VARIABLE} at a folder that holds the pinned files"
