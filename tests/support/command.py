# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The `gym` command in the test's own process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gym_host.cli.main import main
from tests.support.components import snapshot


@dataclass(frozen=True)
class Said:
    """What a command came to."""

    code: int
    out: str
    err: str


class Gym:
    """The command in an empty working directory, in the test's own process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(self, *words: str | Path) -> Said:
        self._capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        return Said(code, *self._capsys.readouterr())

    def refuses(self, *words: str | Path) -> str:
        """What the command says in a few lines when there is something to mend; every file is as it was."""
        before = snapshot(self.folder)
        said = self(*words)
        assert (said.code, said.out) == (2, ""), said
        assert "Traceback" not in said.err
        assert 1 <= said.err.count("\n") <= 6, said.err
        assert snapshot(self.folder) == before
        return said.err

    def put(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path
