# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An installed wheel has everything that is needed, and nothing that must not travel."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=120)
    (path,) = folder.glob("*.whl")
    return path


def test_rows_that_were_prepared_and_tests_stay_out(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert "gym_host/components/benchmarks/vera_mh/prepare.py" in names
    assert {"gym_host/components/benchmarks/vera_mh/calibrate.py", "vera_mh/calibration/driver.py"} <= set(names)
    assert "gym_host/components/resources_servers/vera_mh/data/example.jsonl" in names
    assert not [name for name in names if "/benchmarks/" in name and "/data/" in name]
    assert not [name for name in names if "/tests/" in name]
    folders = {name.split("/")[0] for name in names}
    assert {"vera_mh", "gym_host"} <= folders
    assert not folders & {"benchmarks", "resources_servers", "responses_api_agents", "responses_api_models", "tests"}


def test_the_demo_runs_from_it_in_an_empty_folder(wheel: Path, tmp_path: Path):
    installed, empty = tmp_path / "site", tmp_path / "empty"
    zipfile.ZipFile(wheel).extractall(installed)
    empty.mkdir()
    program = "import sys; from gym_host.cli.main import main; sys.exit(main())"
    run = [sys.executable, "-c", program, "eval", "run", "--benchmark", "vera_mh_demo", "--output", "results/x.jsonl"]
    # The wheel's own folder comes before the checkout that this environment is installed from.
    ended = subprocess.run(
        run, cwd=empty, env=os.environ | {"PYTHONPATH": str(installed)}, text=True, capture_output=True, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    assert "8 of 8 rollouts scored, 0 failed" in ended.stdout
    assert "VERA-MH score" in (empty / "results/x_report.html").read_text()
    assert (installed / "gym_host/components/benchmarks/vera_mh_demo/data/vera_mh_demo.jsonl").exists()
