# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The `gym` command."""

from __future__ import annotations

import logging
import sys
from argparse import Namespace, _SubParsersAction
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

from gym_host.cli import (
    aggregate,
    collate,
    compare,
    component_tests,
    configuration,
    env,
    export,
    listing,
    prepare,
    report,
    reverify,
    run,
    show,
    tool,
)
from gym_host.cli.outcome import go_on
from gym_host.cli.output import say_next
from gym_host.cli.parser import Command, Parser, parse
from gym_host.cli.streams import OutputLost, standard_streams, unread_output_forgiven
from gym_host.distribution import DISTRIBUTION
from gym_host.errors import UserError
from gym_host.interrupts import INTERRUPTED
from gym_host.runs.run_files import RunFiles
from gym_host.wording import harmless

EXIT_CODES = (
    "Exit codes: 0 all that was asked for is done; 1 it ran, but something is missing or a check failed; 2 there is something "
    "for you to mend, and it says what; 130 interrupted. `eval show`, `compare`, `report` and `export` read what is there: they "
    "end with 0, and say INCOMPLETE if rollouts of the run have no score. The last line says what to do next."
)


def build_parser() -> Parser:
    """All words of the command."""
    parser = Parser(
        prog="gym", description="Evaluate and train language models in environments.", epilog=EXIT_CODES, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"{DISTRIBUTION} {metadata.version(DISTRIBUTION)}")
    nouns = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)
    evals = nouns.add_parser("eval", help="run and score benchmarks").add_subparsers(metavar="VERB", required=True)
    _add(evals, "prepare", "make the rows of a benchmark", prepare.add_flags, prepare.run)
    _add(evals, "run", "collect rollouts and compute metrics", run.add_flags, run.run)
    _add(evals, "reverify", "judge the conversations of a run anew", reverify.add_flags, reverify.run)
    _add(evals, "aggregate", "merge shards and compute their metrics", aggregate.add_flags, aggregate.run)
    _add(evals, "compare", "compare runs, conversation by conversation", compare.add_flags, compare.run)
    _add(evals, "show", "show a run, or one of its conversations", show.add_flags, show.run)
    _add(evals, "export", "hand a run on to Inspect, MLflow or Weights & Biases", export.add_flags, export.run)
    _add(evals, "report", "write a page that shows a run", report.add_flags, report.run)
    envs = nouns.add_parser("env", help="run and check environments").add_subparsers(metavar="VERB", required=True)
    _add(envs, "start", "run servers on ports", env.add_start_flags, env.start)
    _add(envs, "status", "say which servers are running", env.add_status_flags, env.status)
    _add(envs, "resolve", "show a configuration", configuration.add_flags, configuration.resolve)
    _add(envs, "validate", "find what is wrong with a configuration", configuration.add_flags, configuration.check)
    _add(envs, "test", "run the tests of a component", component_tests.add_flags, component_tests.run)
    data = nouns.add_parser("dataset", help="check and collate data").add_subparsers(metavar="VERB", required=True)
    _add(data, "collate", "check data and write one file for each split", collate.add_flags, collate.run)
    _add(nouns, "tool", "run a tool that a benchmark brings along", tool.add_flags, tool.run)
    _add(nouns, "list", "say what there is", listing.add_list_flags, listing.list_all)
    _add(nouns, "search", "look for something", listing.add_search_flags, listing.find)
    return parser


def _add(
    group: _SubParsersAction[Parser], name: str, purpose: str, add_flags: Callable[[Parser], None], command: Command
) -> None:
    parser = group.add_parser(name, help=purpose, allow_abbrev=False)
    add_flags(parser)
    parser.add_argument("--verbose", "-v", action="store_true", help="show what goes on, and tracebacks")
    parser.set_defaults(command=command, parser=parser)


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command.

    Returns:
        0 if it did all it was asked, 1 if it ran but something is missing, 2 if the user has something to mend, 130 if
        interrupted.
    """
    with standard_streams():
        try:
            return _carry_out(words)
        except OutputLost as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        except BrokenPipeError:  # Whoever read our output has enough of it.
            return 0


def _carry_out(words: Sequence[str] | None) -> int:
    """Reads the words and does what they say; what is printed is written when this ends, however it does."""
    try:
        args = parse(build_parser(), words)
        logging.basicConfig(level=logging.INFO if args.verbose else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        return _exit_code_of(args)
    finally:
        sys.stdout.flush()


def _exit_code_of(args: Namespace) -> int:
    try:
        command: Command = args.command
        return command(args)
    except UserError as error:
        if args.verbose:
            logging.getLogger(__name__).exception("the command failed")
        print(f"error: {harmless(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        with unread_output_forgiven():
            say_next(_after_interrupt(args))
        return INTERRUPTED


def _after_interrupt(args: Namespace) -> str:
    """What to do next: a run that has files already would be refused without --resume, and --overwrite would do it all anew."""
    output = getattr(args, "output", None)
    resumes = hasattr(args, "resume") and not getattr(args, "append", False)
    if resumes and isinstance(output, Path) and RunFiles(output).run.exists():
        return go_on(args)
    return "run the same command again"


if __name__ == "__main__":
    sys.exit(main())
