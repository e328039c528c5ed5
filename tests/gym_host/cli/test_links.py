# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Commands whose output is a link: a run is never written over under another name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import SumsRoot, sum_row
from tests.support.reverified import SUMS, X, reverify, run

LATEST = Path("results/latest.jsonl")
LOOP = Path("loop.jsonl")
RUN = ("eval", "run", *SUMS)
AGGREGATE = ("eval", "aggregate", *SUMS, "--input-glob", "results/x.jsonl")
REVERIFY = tuple(map(str, reverify()[:-2]))
APPEND = ("--judge-failed-only", "--append")

WAYS = [
    *[(*RUN, *words) for words in ([], ["--resume"], ["--overwrite"])],
    *[(*REVERIFY, *words) for words in ([], ["--resume"], ["--overwrite"], APPEND)],
    *[(*AGGREGATE, *words) for words in ([], ["--overwrite"])],
]


@pytest.fixture
def latest(gym: Gym, sums: SumsRoot) -> Path:
    """A link to the rollouts of the run `x`."""
    run(gym, sums, sum_row(1))
    LATEST.symlink_to("x.jsonl")
    return LATEST


@pytest.mark.parametrize("words", WAYS, ids=" ".join)
def test_an_output_that_is_a_link_to_another_run_is_refused_in_every_mode(gym: Gym, latest: Path, words: tuple[str, ...]):
    said = gym.refuses(*words, "--output", latest)
    assert said.startswith(f"error: {latest} is a link to {X.rollouts.resolve()}, which is a file of another run\n")


@pytest.mark.parametrize("words", WAYS, ids=" ".join)
def test_an_output_that_is_a_link_to_itself_is_refused_in_a_sentence(gym: Gym, sums: SumsRoot, words: tuple[str, ...]):
    run(gym, sums, sum_row(1))
    LOOP.symlink_to(LOOP)
    assert gym.refuses(*words, "--output", LOOP).startswith("error: loop.jsonl is a link that leads back to itself\n")


def test_rows_and_pages_that_are_a_link_to_itself_end_in_a_sentence(gym: Gym, sums: SumsRoot):
    run(gym, sums, sum_row(1))
    LOOP.symlink_to(LOOP)
    Path("loop.html").symlink_to("loop.html")
    assert "loop.jsonl" in gym.refuses(*RUN, "--input", LOOP, "--output", "y.jsonl")
    assert "loop.html is a link that leads back" in gym.refuses("eval", "report", *SUMS, X.rollouts, "--output", "loop.html")


@pytest.mark.parametrize("words", [(), ("--overwrite",)])
def test_a_page_is_not_written_over_the_rollouts_that_it_shows(gym: Gym, latest: Path, words: tuple[str, ...]):
    page = Path("x.html")
    page.symlink_to(X.rollouts)
    assert "x.html is one of the files that are read" in gym.refuses("eval", "report", X.rollouts, "--output", page, *words)
    other = gym.put("other.jsonl", X.rollouts.read_text())
    assert "which is a file of another run" in gym.refuses("eval", "report", other, "--output", page, *words)


def test_collated_rows_are_not_written_over_a_run(gym: Gym, latest: Path):
    target = Path("data/example.jsonl")
    target.parent.mkdir()
    target.symlink_to(X.rollouts.resolve())
    words = (
        "dataset",
        "collate",
        "--benchmark",
        "vera_mh_demo",
        "--mode",
        "example_validation",
        "--output-dir",
        "data",
        "--overwrite",
    )
    assert "data/example.jsonl is a link to" in gym.refuses(*words)
