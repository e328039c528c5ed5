# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym tool`: runs a tool that a benchmark brings along."""

from __future__ import annotations

import argparse

from gym_host.cli.columns import columns
from gym_host.cli.output import say_next
from gym_host.cli.parser import add_search_dir
from gym_host.cli.setup import find_components
from gym_host.config.scripts import tools
from gym_host.errors import ConfigError
from gym_host.wording import suggestion


def add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmark", metavar="BENCHMARK", help="whose tool it is")
    parser.add_argument("tool", nargs="?", metavar="TOOL", help="which one (default: say which there are)")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="what the tool is given; try --help")
    add_search_dir(parser)


def run(args: argparse.Namespace) -> int:
    """Runs a tool, or says which there are.

    Returns:
        The tool's exit code.

    Raises:
        ConfigError: There is no such benchmark, or it has no such tool.
    """
    folder = find_components(args).benchmark(args.benchmark).parent
    by_name = {tool.name: tool for tool in tools(folder)}
    if args.tool is None:
        print(columns((tool.name, tool.purpose) for tool in by_name.values()) if by_name else "nothing found")
        say_next(f"gym tool {args.benchmark} TOOL --help" if by_name else "gym list benchmarks shows what else there is")
        return 0
    if args.tool not in by_name:
        raise ConfigError(f"the benchmark `{args.benchmark}` has no tool `{args.tool}`", mend=suggestion(args.tool, by_name))
    return by_name[args.tool].run(args.arguments)
