# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The tools, run as the scripts that they are."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("tool", "words", "told"),
    [
        ("agreement", ["nowhere.jsonl"], "nowhere.jsonl"),
        ("calibrate", ["--upstream", "x", "--python", "x", "--rollouts", "x.jsonl", "--controls", "none"], "no control `none`"),
        ("pack", ["check", "nowhere"], "there is no folder"),
        ("transcripts", ["read", "nowhere.txt", "--output", "rows.jsonl"], "nowhere.txt cannot be read"),
    ],
)
def test_a_tool_that_is_run_as_a_script_ends_as_it_does_below_the_command(
    tool: str,
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{tool}.py", *words])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / f"{tool}.py"), run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.startswith("error: ")
    assert told in err
