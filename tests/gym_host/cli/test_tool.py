# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym tool`."""

from __future__ import annotations

import pytest

from tests.support.command import Gym
from tests.support.components import SumsRoot

ADD_UP = '''"""Adds numbers up.

More about it.
"""

from dataclasses import dataclass


@dataclass
class Sum:
    numbers: list[int]


def main(arguments):
    print(sum(Sum([int(word) for word in arguments if word != "--all"]).numbers))
    return len(arguments)
'''


@pytest.fixture(autouse=True)
def scripts(sums: SumsRoot) -> None:
    folder = sums.path / "benchmarks/sums"
    (folder / "add_up.py").write_text(ADD_UP)
    (folder / "prepare.py").write_text("def prepare():\n    raise SystemExit('must not be loaded')\n")
    (folder / "broken.py").write_text("def main(:\n")


def test_the_tools_of_a_benchmark_are_listed_with_what_they_do(gym: Gym, sums: SumsRoot):
    said = gym("tool", "--search-dir", sums.path, "sums")
    assert (said.code, said.out) == (0, "add-up  Adds numbers up.\nnext: gym tool sums TOOL --help\n")


def test_a_tool_gets_its_arguments_as_they_stand_and_gives_its_exit_code(gym: Gym, sums: SumsRoot):
    said = gym("tool", "--search-dir", sums.path, "sums", "add-up", "1", "--all", "40")
    assert (said.code, said.out) == (3, "41\n")


def test_a_tool_that_is_not_there_is_named_with_those_that_are(gym: Gym, sums: SumsRoot):
    told = gym.refuses("tool", "--search-dir", sums.path, "sums", "add-pu")
    assert "no tool `add-pu`" in told
    assert "add-up" in told


def test_a_benchmark_without_tools_says_so(gym: Gym, sums: SumsRoot):
    (sums.path / "benchmarks/sums/add_up.py").unlink()
    assert (
        gym("tool", "--search-dir", sums.path, "sums").out
        == "nothing found\nnext: gym list benchmarks shows what else there is\n"
    )


def test_a_tool_that_lacks_a_package_is_told_in_a_few_lines(gym: Gym, sums: SumsRoot):
    (sums.path / "benchmarks/sums/lacking.py").write_text(
        "import no_such_package_anywhere\n\n\ndef main(arguments):\n    return 0\n"
    )
    assert "No module named 'no_such_package_anywhere'" in gym.refuses("tool", "--search-dir", sums.path, "sums", "lacking")
