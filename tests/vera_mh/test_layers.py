# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Imports run one way: what decides a score knows nothing of what is said of it, and the library knows nobody else here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
LIBRARY = PROJECT / "vera_mh"
FOLDERS = sorted(path.name for path in LIBRARY.iterdir() if (path / "__init__.py").exists())
SIMULATING = {"rollout.py", "calibration/materialization.py"}
"""The first records how many turns a simulation had, the second plays one again."""
FORBIDDEN = {"argparse", "fastapi", "gym_host", "resources_servers", "responses_api_agents", "rich", "starlette"}


def imported(path: Path) -> set[str]:
    """Every module that a file imports from."""
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_there_are_folders_to_look_at():
    assert {"analysis", "calibration", "checks", "exchange", "report", "views"} <= set(FOLDERS)


@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.py")), ids=lambda path: path.name)
def test_no_module_that_decides_a_score_imports_a_folder(path):
    assert not {module for module in imported(path) if module.split(".")[1:2] and module.split(".")[1] in FOLDERS}


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=lambda path: str(path.relative_to(LIBRARY)))
def test_the_library_imports_neither_the_host_nor_a_server_nor_a_command(path):
    assert not {module for module in imported(path) if module.split(".")[0] in FORBIDDEN}


@pytest.mark.parametrize("path", sorted(LIBRARY.rglob("*.py")), ids=lambda path: str(path.relative_to(LIBRARY)))
def test_a_conversation_is_read_without_the_simulation_that_makes_one(path):
    assert "vera_mh.simulation" not in imported(path) or path.relative_to(LIBRARY).as_posix() in SIMULATING


@pytest.mark.parametrize("path", sorted((LIBRARY / "analysis").glob("*.py")), ids=lambda path: path.name)
def test_what_is_computed_of_finished_runs_knows_nothing_of_how_it_is_shown(path):
    assert not {module for module in imported(path) if module.startswith(("vera_mh.views", "vera_mh.report"))}
