# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The `gym` command."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Protocol

from gym_host.cli import env, prepare, run
from gym_host.cli.parser import Command, Parser, parse
from gym_host.errors import UserError
from gym_host.identity import DISTRIBUTION

INTERRUPTED = 130


class Verb(Protocol):
    """A module that holds one verb of the command."""

    add_flags: Callable[[Parser], None]
    run: Command


def build_parser() -> Parser:
    """All words of the command."""
    parser = Parser(prog="gym", description="Evaluate and train language models in environments.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"{DISTRIBUTION} {metadata.version(DISTRIBUTION)}")
    nouns = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    evals = nouns.add_parser("eval", help="run and score benchmarks").add_subparsers(metavar="VERB", required=True)
    _add(evals.add_parser("prepare", help="make the rows of a benchmark", allow_abbrev=False), prepare.add_flags, prepare.run)
    _add(evals.add_parser("run", help="collect rollouts and compute metrics", allow_abbrev=False), run.add_flags, run.run)
    envs = nouns.add_parser("env", help="run and check environments").add_subparsers(metavar="VERB", required=True)
    _add(envs.add_parser("start", help="run servers on ports", allow_abbrev=False), env.add_start_flags, env.start)
    _add(envs.add_parser("status", help="say which servers are running", allow_abbrev=False), env.add_status_flags, env.status)
    return parser


def _add(parser: Parser, add_flags: Callable[[Parser], None], command: Command) -> None:
    add_flags(parser)
    parser.add_argument("--verbose", "-v", action="store_true", help="show what goes on, and tracebacks")
    parser.set_defaults(command=command, parser=parser)


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command.

    Returns:
        0 if it did all it was asked, 1 if it ran but something is missing, 2 if the user has something to mend, 130 if
        interrupted.
    """
    args = parse(build_parser(), words)
    logging.basicConfig(level=logging.INFO if args.verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        command: Command = args.command
        return command(args)
    except UserError as error:
        if args.verbose:
            logging.getLogger(__name__).exception("the command failed")
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
