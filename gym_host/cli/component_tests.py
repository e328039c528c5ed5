# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env test`: runs the tests that lie in the folder of a component, and checks its example data."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

from gym_host.cli.output import say_next
from gym_host.cli.parser import Parser, add_search_dir
from gym_host.cli.setup import find_components
from gym_host.config.components import Components
from gym_host.config.overrides import parse_overrides
from gym_host.errors import ConfigError, UserError
from gym_host.runs.example_data import check_example_data
from gym_host.wording import suggestion

_KEYS = ("entrypoint", "should_validate_data")


def add_flags(parser: Parser) -> None:
    parser.add_argument("--resources-server", metavar="NAME", help="the resources server to test")
    add_search_dir(parser)
    parser.set_defaults(takes_overrides=True)
    parser.epilog = (
        "+entrypoint=resources_servers/NAME names any component; +should_validate_data=true also checks data/example*.jsonl."
    )


def run(args: argparse.Namespace) -> int:
    """Runs the tests of a component.

    Returns:
        0 if all is well, 1 if a test fails or the data is wrong.

    Raises:
        UserError: There is no such component, it has no tests, or pytest is missing.
    """
    wanted = _wanted(args.overrides)
    folder = _folder(find_components(args), args.resources_server, wanted.get("entrypoint"))
    if importlib.util.find_spec("pytest") is None:
        mend = f"{sys.executable} -m pip install pytest pytest-asyncio"
        raise UserError("pytest is not installed, and runs the tests", mend=mend)
    if not (folder / "tests").is_dir():
        raise UserError(f"{folder} has no tests", mend=f"write some into {folder / 'tests'}")
    faults = check_example_data(folder) if wanted.get("should_validate_data") is True else []
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr, flush=True)
    code = subprocess.run([sys.executable, "-m", "pytest", str(folder / "tests")], check=False).returncode
    if wanted.get("should_validate_data") is True and not faults:
        print(f"the example data in {folder / 'data'} is as it should be")
    say_next("mend what fails, and test again" if code or faults else "gym env validate finds what is wrong with a configuration")
    return 1 if code or faults else 0


def _wanted(words: list[str]) -> dict[str, Any]:
    wanted = {override.key: override.value for override in parse_overrides(words)}
    for key in wanted:
        if key not in _KEYS:
            raise ConfigError(f"there is no key `{key}` here", mend=suggestion(key, _KEYS))
    return wanted


def _folder(components: Components, name: str | None, entrypoint: Any) -> Path:
    if name is not None and entrypoint is not None:
        raise ConfigError("both --resources-server and entrypoint say what to test", mend="give one of them")
    if name is not None:
        return components.resources_server(name).parents[1]
    if entrypoint is None:
        raise ConfigError("nothing says what to test", mend="give --resources-server NAME, or +entrypoint=resources_servers/NAME")
    folder = components.find(str(entrypoint))
    return folder if folder.is_dir() else folder.parent
