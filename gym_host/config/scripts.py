# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The scripts in a benchmark's folder: found by file, told by what they define, loaded when they are wanted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gym_host.config.modules import import_file
from gym_host.errors import ConfigError

ENTRY = "main"
"""What makes a script a tool: `main(arguments) -> int`, with arguments as strings and the exit code as result."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A script that people run by name.

    Attributes:
        name: Its name, the file's without the ending.
        path: The script.
        purpose: The first sentence of its docstring.
    """

    name: str
    path: Path
    purpose: str

    def run(self, arguments: list[str]) -> int:
        """Runs it in this process.

        Returns:
            Its exit code.

        Raises:
            ConfigError: It cannot be loaded.
        """
        return int(function(self.path, ENTRY)(arguments))


def tools(folder: Path) -> Iterator[Tool]:
    """The tools among the scripts of a folder, by name. None is loaded to find out."""
    for path in sorted(folder.glob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except SyntaxError:
            continue
        if any(isinstance(node, ast.FunctionDef) and node.name == ENTRY for node in tree.body):
            purpose = (ast.get_docstring(tree) or "").partition("\n")[0]
            yield Tool(path.stem.replace("_", "-"), path, purpose)


def function(script: Path, name: str) -> Callable[..., Any]:
    """A function of a script.

    Raises:
        ConfigError: The script cannot be loaded, or has no such function.
    """
    found = getattr(load(script), name, None)
    if not callable(found):
        raise ConfigError(f"{script} has no function `{name}`")
    return found  # type: ignore[no-any-return]


def load(script: Path) -> ModuleType:
    """A script as a module.

    Raises:
        ConfigError: It is no Python file, or cannot be imported.
    """
    return import_file(script, f"gym_scripts.{script.parent.name}.{script.stem}")
