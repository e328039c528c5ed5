# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env test`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gym_host.cli.main import main

ROW = '{"responses_create_params": {"input": []}, "reward": 1.0}\n'


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A resources server with a test that passes and example data."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "resources_servers/maths"
    for name in ("configs", "tests", "data"):
        (folder / name).mkdir(parents=True)
    (folder / "configs/maths.yaml").touch()
    (folder / "tests/test_maths.py").write_text("def test_sum():\n    assert 1 + 1 == 2\n")
    for name in ("example.jsonl", "example_rollouts.jsonl", "example_metrics.json"):
        (folder / "data" / name).write_text(ROW)
    return folder


def test_the_tests_of_a_component_are_run(server: Path, capfd: pytest.CaptureFixture[str]):
    assert main(["env", "test", "+entrypoint=resources_servers/maths", "+should_validate_data=true"]) == 0
    printed = capfd.readouterr().out
    assert "1 passed" in printed
    assert f"the example data in {server / 'data'} is as it should be" in printed


def test_a_test_that_fails_and_data_that_is_wrong_are_said_together(server: Path, capfd: pytest.CaptureFixture[str]):
    (server / "tests/test_maths.py").write_text("def test_sum():\n    assert 1 + 1 == 3\n")
    (server / "data/example_rollouts.jsonl").unlink()
    assert main(["env", "test", "--resources-server", "maths", "+should_validate_data=true"]) == 1
    out, err = capfd.readouterr()
    assert "1 failed" in out
    assert err.startswith(f"error: {server / 'data/example_rollouts.jsonl'} is missing\n")


def test_without_being_asked_to_the_data_is_not_looked_at(server: Path, capfd: pytest.CaptureFixture[str]):
    (server / "data/example.jsonl").unlink()
    assert main(["env", "test", "--resources-server", "maths"]) == 0
    assert "example" not in capfd.readouterr().out


def test_what_cannot_be_tested_is_told(server: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def said(*words: str) -> str:
        assert main(["env", "test", *words]) == 2
        return capsys.readouterr().err

    assert "did you mean `maths`?" in said("--resources-server", "math")
    assert "no file or folder `resources_servers/nobody`" in said("+entrypoint=resources_servers/nobody")
    assert "nothing says what to test" in said()
    assert "give one of them" in said("--resources-server", "maths", "+entrypoint=resources_servers/maths")
    assert "did you mean `should_validate_data`?" in said("--resources-server", "maths", "+should_validate_dta=true")
    (server / "tests/test_maths.py").unlink()
    (server / "tests").rmdir()
    assert f"{server} has no tests" in said("--resources-server", "maths")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pytest is not installed" in said("--resources-server", "maths")
