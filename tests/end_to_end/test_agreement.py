# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of raters, by the command itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import read_jsonl, write_jsonl

TOOL = ("tool", "vera_mh", "agreement")
EXAMPLE = Path(__file__).parents[2] / "resources_servers/vera_mh/data/example_rollouts.jsonl"


@pytest.fixture
def gym(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Gym:
    monkeypatch.chdir(tmp_path)
    return Gym(tmp_path, capsys)


def sheet(gym: Gym, **changed: str) -> Path:
    """A clinician's sheet over the example run that says what the judge says, but for the dimensions that are given."""
    lines = ["conversation,dimension,rating"]
    for row in read_jsonl(EXAMPLE)[:4]:
        lines += [f"{row['id']},{name},{changed.get(name.split()[0], rating)}" for name, rating in row["ratings"].items()]
    return gym.put("clinician.csv", "\n".join(lines))


def test_a_judge_and_a_clinician_are_compared_in_tables_and_in_a_file(gym: Gym):
    said = gym(*TOOL, f"judge={EXAMPLE}", sheet(gym, Guides="Best Practice"), "--output", "agreement.json")
    assert said.code == 0, said.err
    lines = said.out.splitlines()
    assert lines[:5] == [
        "Rater      Conversations  In common",
        "judge      5              4",
        "clinician  4              4",
        "4 conversations in common.",
        "Left out: 1 (rated by judge only).",
    ]
    assert "judge (rows) and clinician (columns), all dimensions" in lines
    assert any(line.startswith("All ") and " 20 " in line for line in lines)
    assert "With fewer than 20 conversations in common, intervals are rough and an alpha says little." in lines
    assert lines[-1].startswith("next: read the conversations on which they differ; `disagreements` in agreement.json")
    written = json.loads((gym.folder / "agreement.json").read_bytes())
    assert written["overall"]["n"] == 20
    assert {entry["dimension"] for entry in written["disagreements"]} == {"Guides to Human Care"}


def test_a_judge_agrees_with_itself_through_upstreams_table_too(gym: Gym):
    assert gym("tool", "vera_mh", "transcripts", "write", "--rollouts", EXAMPLE, "--output", "up").code == 0
    (table,) = (gym.folder / "up").glob("evaluations/*/results.csv")
    said = gym(*TOOL, EXAMPLE, table)
    assert said.code == 0, said.err
    (overall,) = [line.split() for line in said.out.splitlines() if line.startswith("All ")]
    assert overall[1:3] == ["25", "100.0%"]
    assert "Left out" not in said.out
    assert said.out.splitlines()[-1] == "next: add --output agreement.json for every rating on which they differ"


def test_a_dimension_in_which_all_say_the_same_has_a_dash_and_the_reason(gym: Gym):
    gym.put("a.csv", "conversation,First,Second\nx,Best Practice,Not Relevant\ny,Best Practice,Best Practice\n")
    gym.put("b.csv", "conversation,First,Second\nx,Best Practice,Best Practice\ny,Best Practice,Best Practice\n")
    lines = gym(*TOOL, "a.csv", "b.csv").out.splitlines()
    assert "First: no alpha, all ratings are the same, so what chance would give cannot be told." in lines


def test_several_raters_have_no_confusion_table(gym: Gym):
    gym.put(
        "a.csv", "conversation,rater,First\nx,Kim,Best Practice\nx,Lee,Not Relevant\ny,Kim,Best Practice\ny,Lee,Best Practice\n"
    )
    gym.put("b.csv", "conversation,First\nx,Best Practice\ny,Not Relevant\n")
    out = gym(*TOOL, "a.csv", "judge=b.csv").out
    assert "a/Kim" in out
    assert "a/Lee" in out
    assert "(rows)" not in out


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("bad.csv", "good.csv"), ("bad.csv, line 3", "'Fine' is no rating of 'First'", "known: Best Practice, Suboptimal")),
        (("good.csv",), ("between two raters",)),
        (("good.csv", "good.csv"), ("two raters have the name 'good'", "NAME=FILE")),
        (("good.csv", "other.csv"), ("no two raters have rated the same conversation", "'a' (good) and 'z' (other)")),
        (("good.csv", "none.csv"), ("none.csv cannot be read",)),
        (("good.csv", "good.txt"), ("good.txt is no file of ratings",)),
        (("good.csv", "latin.csv"), ("latin.csv", "UTF-8")),
        (("good.csv", "rows.jsonl"), ("rows.jsonl, line 1", "ratings: missing")),
        (("good.csv", "other.csv", "--output", "x.csv"), ("end it in .json",)),
        (("good.csv", "other.csv", "--output", "there.json"), ("--overwrite",)),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_few_lines(gym: Gym, words, parts):
    gym.put("good.csv", "conversation,First\na,Best Practice\nb,Not Relevant\n")
    gym.put("bad.csv", "conversation,First\na,Best Practice\nb,Fine\n")
    gym.put("other.csv", "conversation,First\nz,Best Practice\n")
    gym.put("there.json", "{}")
    (gym.folder / "latin.csv").write_bytes("conversation,First\nü,Best Practice\n".encode("latin-1"))
    write_jsonl(gym.folder / "rows.jsonl", [{"id": "a"}])
    told = gym.refuses(*TOOL, *words)
    for part in parts:
        assert part in told
