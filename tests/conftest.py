# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that all tests share: the real pack and the recorded answers of upstream, where this machine has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from vera_mh.pack import VERA_MH, Pack, read_pack

for _name in ("http_proxy", "https_proxy", "all_proxy"):
    # Tests talk to this machine alone, whatever proxy it has.
    os.environ.pop(_name, None)
    os.environ.pop(_name.upper(), None)

PROJECT = Path(__file__).parent.parent

# A busy machine is no fault of the code under test.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")


def _folder(variable: str, beside: str, what: str) -> Path:
    """A folder of pinned files: tests that need it are skipped without it, or fail if `VERA_MH_REQUIRE_PINNED` is set."""
    named = os.environ.get(variable)
    folder = Path(named) if named else PROJECT.parent / "shared" / beside
    if not folder.is_dir():
        reason = f"needs {what}: set {variable} to its folder"
        if os.environ.get("VERA_MH_REQUIRE_PINNED"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder


@pytest.fixture(scope="session")
def pack_folder() -> Path:
    """Folder of the real pack: `VERA_MH_PACK`, else `../shared/vera-mh-v1.2`."""
    return _folder("VERA_MH_PACK", "vera-mh-v1.2", "the VERA-MH pack")


@pytest.fixture(scope="session")
def pack(pack_folder: Path) -> Pack:
    return read_pack(VERA_MH, pack_folder)


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    """Folder of the recorded answers: `VERA_MH_GOLDEN_DIR`, else `../shared/golden`."""
    return _folder("VERA_MH_GOLDEN_DIR", "golden", "the recorded answers of upstream")
