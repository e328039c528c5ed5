# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym list` and `gym search`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_host.cli.main import main
from tests.support.components import SumsRoot, gym_process


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("benchmarks", ["vera_mh", "vera_mh_demo"]),
        ("environments", ["vera_mh"]),
        ("agents", ["vera_mh_agent"]),
        ("models", ["inference_provider"]),
    ],
)
def test_what_comes_with_the_host_is_listed_with_a_line_each(kind: str, names: list[str], capsys: pytest.CaptureFixture[str]):
    assert main(["list", kind]) == 0
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if not line.startswith((" ", "next: "))]
    assert [row[0] for row in rows] == names
    assert all(len(row[1]) > 20 for row in rows)


def test_one_thing_is_shown_with_its_place_and_for_programs_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["list", "benchmarks", "vera_mh"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("benchmarks/vera_mh/config.yaml")
    assert main(["list", "benchmarks", "vera_mh", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["type"], entry["name"]) == ("benchmarks", "vera_mh")
    assert set(entry) == {"type", "name", "description", "path"}


def test_what_there_is_not_is_answered_with_what_there_is(capsys: pytest.CaptureFixture[str]):
    assert main(["list", "benchmarks", "vera_mh_dmo"]) == 2
    assert "did you mean `vera_mh_demo`?" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["list", "benchmark"])
    assert caught.value.code == 2
    assert "benchmarks" in capsys.readouterr().err


def test_a_root_of_ones_own_is_listed_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    root = SumsRoot(tmp_path / "root")
    assert main(["list", "benchmarks", "--search-dir", str(root.path)]) == 0
    assert "sums" in capsys.readouterr().out


def test_a_search_goes_over_everything_or_over_one_type(capsys: pytest.CaptureFixture[str]):
    assert main(["search", "demo"]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines() if not line.startswith((" ", "next: "))] == [
        ["benchmarks", "vera_mh_demo"]
    ]
    assert main(["search", "agents", "simulator", "--json"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == ["vera_mh_agent"]
    assert main(["search", "weather", "forecast"]) == 1
    assert capsys.readouterr().out.startswith("nothing found\nnext: gym list TYPE ")
    assert main(["search", "models"]) == 2
    assert "gym search models QUERY" in capsys.readouterr().err


def test_a_reader_that_has_enough_of_our_output_is_no_traceback(tmp_path: Path):
    process = gym_process("list", "benchmarks", cwd=tmp_path)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=30)
    assert errors == ""
