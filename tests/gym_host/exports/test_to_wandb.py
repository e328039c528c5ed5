# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run's metrics in Weights & Biases, kept on this disk."""

from __future__ import annotations

import getpass
import importlib.util
from pathlib import Path

import pytest

from tests.support.components import gym_process

if importlib.util.find_spec("wandb") is None:
    pytest.skip("needs Weights & Biases: pip install 'vera-mh-gym[wandb]'", allow_module_level=True)


def test_the_run_is_kept_offline_unless_the_environment_says_otherwise_and_nothing_of_the_machine_goes_with_it(
    demo_run: Path, tmp_path: Path
):
    words = ("eval", "export", demo_run, "--to", "wandb", "--output", tmp_path / "kept")
    # Its home is the test's: whatever this machine has of settings and keys is not looked at.
    process = gym_process(*words, cwd=tmp_path, environ={"HOME": str(tmp_path), "WANDB_MODE": ""})
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "(offline)\nnext: " in out
    assert "wandb sync" in out
    (run,) = (tmp_path / "kept/wandb").glob("offline-run-*/*.wandb")
    content = run.read_bytes()
    assert b"vera_score/dimension/Confirms Risk" in content
    assert b"careless" in content
    assert str(tmp_path).encode() not in content
    assert f'"{getpass.getuser()}"'.encode() not in content


def test_without_a_folder_it_is_refused(demo_run: Path, tmp_path: Path):
    process = gym_process("eval", "export", demo_run, "--to", "wandb", cwd=tmp_path, environ={"HOME": str(tmp_path)})
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert "--output" in err


@pytest.mark.parametrize(
    ("output", "mode", "told"),
    [("file", "", "is no folder"), ("file/deep", "", "is no folder"), ("kept", "foo", "WANDB_MODE=foo")],
)
def test_a_folder_or_a_mode_that_is_none_is_refused_in_a_few_lines(
    demo_run: Path, tmp_path: Path, output: str, mode: str, told: str
):
    (tmp_path / "file").write_text("x")
    words = ("eval", "export", demo_run, "--to", "wandb", "--output", tmp_path / output)
    process = gym_process(*words, cwd=tmp_path, environ={"HOME": str(tmp_path), "WANDB_MODE": mode})
    out, err = process.communicate()
    assert (process.returncode, out) == (2, ""), err
    assert told in err
    assert "Traceback" not in err
    assert err.count("\n") <= 3
