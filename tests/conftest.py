# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all tests share: the real pack and the recorded answers of upstream, where this machine has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vera_mh.pack import VERA_MH, Pack, read_pack

PROJECT = Path(__file__).parent.parent


def _folder(variable: str, beside: str) -> Path | None:
    named = os.environ.get(variable)
    folder = Path(named) if named else PROJECT.parent / "shared" / beside
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def pack_folder() -> Path:
    """Folder of the real pack: `VERA_MH_PACK`, else `../shared/vera-mh-v1.2`."""
    folder = _folder("VERA_MH_PACK", "vera-mh-v1.2")
    if folder is None:
        pytest.skip("needs the VERA-MH pack: set VERA_MH_PACK to its folder")
    return folder


@pytest.fixture(scope="session")
def pack(pack_folder: Path) -> Pack:
    return read_pack(VERA_MH, pack_folder)


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    """Folder of the recorded answers: `VERA_MH_GOLDEN_DIR`, else `../shared/golden`."""
    folder = _folder("VERA_MH_GOLDEN_DIR", "golden")
    if folder is None:
        pytest.skip("needs the recorded answers of upstream: set VERA_MH_GOLDEN_DIR to their folder")
    return folder
