# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The manifest of a pack of one's own: made from the files that lie in its folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import yaml

from vera_mh.errors import ManifestIncomplete, PackError
from vera_mh.pack import LICENSE, REQUIRED_FILES, Manifest, refuse_pinned_name


def fresh_manifest(
    folder: Path,
    known: Manifest | None = None,
    *,
    name: str | None = None,
    rubric_version: str | None = None,
    repository: str | None = None,
    revision: str | None = None,
) -> Manifest:
    """The manifest of a folder as its files are now.

    Args:
        folder: Where the files lie.
        known: The manifest there is: what is not given is taken from it, and so is which files belong to the pack.
        name: Name of the pack.
        rubric_version: Version of its rubric.
        repository: Where its files come from.
        revision: Commit or version there.

    Raises:
        ManifestIncomplete: Nothing says what the pack is called and where it comes from.
        PackError: A file is missing, or the name is that of the pinned pack.
    """
    given = {"name": name, "rubric_version": rubric_version, "repository": repository, "revision": revision}
    told: dict[str, str] = {key: value or (getattr(known, key) if known else "") for key, value in given.items()}
    unknown = tuple(key for key, value in told.items() if not value)
    if unknown:
        raise ManifestIncomplete(f"nothing says what the pack in {folder} is", unknown)
    refuse_pinned_name(told["name"], folder)
    optional = [*(known.sha256 if known else ()), *([LICENSE] if (folder / LICENSE).exists() else ())]
    files = dict.fromkeys((*REQUIRED_FILES, *optional))
    return Manifest(
        name=told["name"],
        rubric_version=told["rubric_version"],
        repository=told["repository"],
        revision=told["revision"],
        sha256={file: _sha256(folder / file) for file in files},
    )


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise PackError(
            f"{path} cannot be read: {error.strerror}\n  to mend it: a pack has the files {', '.join(REQUIRED_FILES)}"
        ) from None


def manifest_text(manifest: Manifest) -> str:
    """A manifest as its file holds it."""
    keys = ("name", "rubric_version", "repository", "revision")
    values = {key: getattr(manifest, key) for key in keys} | {"files": dict(manifest.sha256)}
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=130)
