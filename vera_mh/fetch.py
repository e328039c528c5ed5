# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Fetching the pack: only what is missing, only from the pinned commit, and only what has the pinned hash takes its place."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import aiohttp

from vera_mh.errors import PackError
from vera_mh.pack import PACK_VARIABLE, Manifest

SOURCE = "https://raw.githubusercontent.com"
TIMEOUT_SECONDS = 60.0
SIZE_LIMIT = 10_000_000
"""Bytes; no file of a pack comes near it."""


def missing_files(manifest: Manifest, folder: Path) -> list[str]:
    """The files that are not there. One that is there but differs is not missing: it is somebody's, not ours to replace."""
    return [name for name in manifest.sha256 if not (folder / name).exists()]


async def fetch_pack(
    manifest: Manifest,
    folder: Path,
    *,
    write: Callable[[Path, bytes], None],
    report: Callable[[str], None],
    source: str = SOURCE,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> None:
    """Fetches the missing files of a pack into its folder.

    Args:
        manifest: The pack.
        folder: Where it lies.
        write: Puts whole contents in their place at once.
        report: Is told of every file.
        source: Base URL.
        timeout_seconds: Time for each file.

    Raises:
        PackError: The source cannot be reached, or what it sent is not the pinned file.
    """
    names = missing_files(manifest, folder)
    timeout = aiohttp.ClientTimeout(total=timeout_seconds)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
        for number, name in enumerate(names, start=1):
            url = f"{source}/{manifest.repository}/{manifest.revision}/{manifest.upstream_paths.get(name, name)}"
            content = await _download(session, url)
            found = hashlib.sha256(content).hexdigest()
            if found != manifest.sha256[name]:
                raise PackError(
                    f"{url} is not the pinned file, so it was not kept.\n"
                    f"  SHA-256 found    {found}\n  SHA-256 expected {manifest.sha256[name]}\n{_mend()}"
                )
            write(folder / name, content)
            report(f"[{number}/{len(names)}] {name}, {len(content):,} bytes, hash holds")


async def _download(session: aiohttp.ClientSession, url: str) -> bytes:
    try:
        async with session.get(url) as response:
            if response.status != 200:
                raise PackError(f"{url} cannot be fetched: HTTP {response.status}.\n{_mend()}")
            content = await response.content.read(SIZE_LIMIT + 1)
            while len(content) <= SIZE_LIMIT and (more := await response.content.read(SIZE_LIMIT)):
                content += more
    except TimeoutError:
        raise PackError(f"{url} cannot be fetched: no answer in time.\n{_mend()}") from None
    except (aiohttp.ClientError, OSError) as error:
        raise PackError(f"{url} cannot be fetched: {error}.\n{_mend()}") from None
    if len(content) > SIZE_LIMIT:
        raise PackError(f"{url} is larger than any file of a pack, so it was not kept.\n{_mend()}")
    return content


def _mend() -> str:
    return (
        "  to mend it: check the network (a proxy is taken from HTTPS_PROXY), or fetch the files elsewhere and point "
        f"{PACK_VARIABLE} at their folder"
    )
