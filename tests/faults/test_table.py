# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the kinds of trouble, and of the kinds of faults, in `README.md`."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

from tests.support.faults import KINDS, Fault

PROJECT = Path(__file__).parents[2]
TEXT = (Path(__file__).parent / "README.md").read_text()
ROWS = re.findall(r"^\| (\d+) \| [^|]+ \| (.+) \|$", TEXT, re.MULTILINE)


def names_in(cells: str) -> dict[str, list[str]]:
    """File -> the tests of it that are named."""
    found: dict[str, list[str]] = {}
    path = ""
    for name in re.findall(r"`([^`]+)`", cells):
        if name.endswith(".py"):
            path = name
        else:
            found.setdefault(path, []).append(name)
    return found


def functions_of(path: Path) -> set[str]:
    nodes = ast.parse(path.read_text()).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_kind_of_trouble_is_held_by_tests_that_there_are():
    assert [int(number) for number, _ in ROWS] == list(range(1, 35))
    for number, cells in ROWS:
        named = names_in(cells)
        assert named
        for path, names in named.items():
            assert set(names) <= functions_of(PROJECT / path), (number, path)


def numbers_of(name: str) -> list[int]:
    """The numbers that a test bears."""
    found = re.match(r"test((?:_\d\d)+)_", name)
    return [int(number) for number in found[1].split("_")[1:]] if found else []


def test_a_test_that_bears_the_number_of_a_trouble_stands_in_its_row():
    listed = {(int(number), name) for number, cells in ROWS for names in names_in(cells).values() for name in names}
    borne = [
        (number, name)
        for path in Path(__file__).parent.glob("test_*.py")
        for name in functions_of(path)
        for number in numbers_of(name)
    ]
    assert len(borne) > 30
    assert set(borne) - listed == set()


def test_every_kind_of_fault_and_every_selector_of_the_endpoint_is_explained():
    explained = set(re.findall(r"`(\w+)`", TEXT.partition("## The endpoint")[2]))
    assert explained >= KINDS.keys()
    how = {"kind", "status", "body", "headers", "seconds", "period", "parameter", "instead"}
    assert explained >= {field.name for field in fields(Fault)} - how
