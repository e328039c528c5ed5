# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The command in an empty folder, without the keys of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import KEY_VARIABLES, SumsRoot, sum_row


@pytest.fixture
def gym(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gym:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in KEY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for role in ("JUDGE", "USER_GPT52", "USER_OPUS45"):
        for ending in ("BASE_URL", "API_KEY", "MODEL", "CONCURRENCY"):
            monkeypatch.delenv(f"VERA_MH_{role}_{ending}", raising=False)
    return Gym(folder, capsys)


@pytest.fixture
def sums(gym: Gym) -> SumsRoot:
    return SumsRoot(gym.folder / "root", [sum_row(1), sum_row(2)])
