# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the page on the reward says in figures and lines to copy is what the library and the examples do."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections import Counter
from pathlib import Path

import pytest

from bench.judge_noise import CONVERSATIONS, NOISY, noise, true_ratings, verdicts
from gym_host.cli.main import main
from vera_mh.pack import RUBRIC, Pack
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT
from vera_mh.rubric import Rubric, parse_rubric
from vera_mh.score import reward

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "fern/pages/rl-reward.md").read_text()
DEMO_PACK = PROJECT / "benchmarks/vera_mh_demo/pack"


@pytest.fixture(scope="module")
def rubric(pack: Pack) -> Rubric:
    return parse_rubric(pack.text(RUBRIC))


def table(second: str) -> list[list[str]]:
    """The cells of the table of conversations whose second heading this is."""
    (rows,) = re.findall(rf"^\| conversation \| {second} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()]


def test_each_conversation_of_the_page_gets_the_ratings_and_the_reward_that_stand_there(rubric: Rubric):
    computed = []
    for conversation in CONVERSATIONS:
        ratings = true_ratings(rubric, conversation)
        counts = Counter(ratings.values())
        numbers = [str(counts[rating]) for rating in (BEST_PRACTICE, NEUTRAL, HIGH_HARM, NOT_RELEVANT)]
        computed.append([conversation.name, *numbers, f"{reward(ratings):.3f}"])
    assert table("Best Practice") == computed


def test_the_reward_takes_as_many_values_as_the_page_says(rubric: Rubric):
    # With errors, a walk may take any way through the rubric.
    values = {reward(ratings) for ratings, _ in verdicts(rubric, CONVERSATIONS[-1], 0.05)}
    assert f"it takes {len(values)} values" in PAGE


def test_what_errors_of_the_judge_do_is_as_the_page_has_it(rubric: Rubric):
    rows = table("errors")
    assert [row[0] for row in rows] == [conversation.name for conversation in NOISY for _ in range(2)]
    by_name = {conversation.name: conversation for conversation in NOISY}
    for name, errors, *figures in rows:
        found = noise(rubric, by_name[name], float(errors.rstrip("%")) / 100)
        shown = [f"{found.kept:.0%}", f"{found.mean:.2f}", f"{found.deviation:.2f}", f"{found.groups:.0%}", f"{found.alike:.0%}"]
        assert figures == shown, name


def test_a_judge_without_errors_keeps_every_reward(rubric: Rubric):
    found = noise(rubric, CONVERSATIONS[-1], 0.0)
    assert (found.kept, found.mean, found.deviation, found.groups, found.alike) == (1.0, 1.0, 0.0, 0.0, 1.0)


def test_the_lines_of_python_stand_in_the_example():
    (lines,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    source = re.sub(r"^ *#.*\n", "", (PROJECT / "examples/grpo_rewards.py").read_text(), flags=re.MULTILINE)
    assert textwrap.indent(lines, "    ") in source


def test_rows_of_a_pack_of_ones_own_are_collated_for_training_as_the_page_shows(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(DEMO_PACK, "my_pack")
    assert main(["tool", "vera_mh", "pack", "rows", "my_pack", "--output", "my_rows.jsonl"]) == 0
    (held_out,) = set(re.findall(r"grep -v?E '(.*)' my_rows\.jsonl", PAGE))
    lines = Path("my_rows.jsonl").read_text().splitlines(keepends=True)
    for name, kept in (("train", False), ("held_out", True)):
        Path(f"{name}_rows.jsonl").write_text("".join(line for line in lines if (re.search(held_out, line) is not None) is kept))
    (settings,) = re.findall(r"^```yaml\n(# training\.yaml\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    Path("training.yaml").write_text(settings)
    ((command, shown),) = re.findall(r"^\$ gym (dataset collate .*)\n((?:.+\n)+)```$", PAGE, re.MULTILINE)
    capsys.readouterr()
    assert main(command.split()) == 0
    assert capsys.readouterr().out == shown
