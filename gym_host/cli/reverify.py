# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval reverify`: judges the conversations of a finished run anew. Nothing is simulated."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from gym_host.atomic import real
from gym_host.cli.end_report import report_at_end
from gym_host.cli.outcome import exit_code, go_on, show_outcome
from gym_host.cli.output import stderr_console, warn
from gym_host.cli.parser import add_config_flags, positive
from gym_host.cli.run_options import DEFAULT_CONCURRENCY, add_run_flags, max_attempts, meter_of
from gym_host.cli.scorer import agent_and_verifier, agent_named_in
from gym_host.cli.setup import find_components, load_setup, words_of_configuration
from gym_host.cli.streams import unread_output_forgiven
from gym_host.config.configuration import Instance
from gym_host.config.prices import prices_of
from gym_host.config.references import check_references
from gym_host.errors import UserError
from gym_host.runs.attempts import Attempt, ReverifyAttempt, refuse_unsupported
from gym_host.runs.comparable import refuse_other_servers
from gym_host.runs.evaluating import evaluate
from gym_host.runs.evaluation import Evaluation
from gym_host.runs.fields import values_of
from gym_host.runs.finished import FinishedRun, read_run
from gym_host.runs.links import files_to_write
from gym_host.runs.outcome import Outcome
from gym_host.runs.reverification import Selection, read_stored, select
from gym_host.runs.run_files import RunFiles
from gym_host.runs.run_record import read_record_if_any
from gym_host.serving.calls import ServerCalls
from gym_host.serving.limits import raise_file_limit
from gym_host.serving.local import running
from gym_host.wording import counted, quoted, together

_AGAIN = "run the same command again; what is scored stays, the rest is tried again"


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    source = parser.add_argument_group("the run to judge again")
    source.add_argument("--inputs", type=Path, required=True, metavar="FILE", help="its materialized inputs")
    source.add_argument("--rollouts", type=Path, required=True, metavar="FILE", help="its rollouts")
    source.add_argument("--limit", type=positive, metavar="N", help="judge N rollouts at the most")
    source.add_argument("--judge-failed-only", action="store_true", help="judge only what the judge failed on; keep the rest")
    run = parser.add_argument_group("run")
    run.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="where the new rollouts go (.jsonl)")
    run.add_argument("--resume", action="store_true", help="go on with what is there")
    run.add_argument("--overwrite", action="store_true", help="replace what is there")
    run.add_argument("--append", action="store_true", help="with --judge-failed-only: add to the rollouts that are there")
    add_run_flags(run, what="judgings")


def run(args: argparse.Namespace) -> int:
    """Reverifies a run.

    Returns:
        0 if every rollout is scored, all by one measure; 1 if not; 130 if it was interrupted.
    """
    evaluation = plan_reverification(args)
    raise_file_limit(2 * evaluation.concurrency)
    console = stderr_console()
    _announce(evaluation, console)
    outcome = asyncio.run(evaluate(evaluation, console))
    done, report = _done(args, outcome), report_at_end(args, evaluation, outcome)
    with unread_output_forgiven():
        show_outcome(outcome, evaluation.files, go_on=_AGAIN if args.append else go_on(args), done=done, report=report)
    return exit_code(outcome)


def _done(args: argparse.Namespace, outcome: Outcome) -> str:
    if args.append:
        return f"gym eval compare {quoted(args.output)} OTHER.jsonl holds it against another run"
    if _comparable(args.rollouts, args.output, outcome.measure):
        return f"gym eval compare {quoted(args.rollouts, args.output)} tells in what the two judgings differ"
    return f"gym eval show {quoted(args.output)} --list for the conversations and how each was judged"


def _comparable(old: Path, new: Path, measure: Mapping[str, Sequence[Any]]) -> bool:
    """Whether both judgings are of one measure, as far as is known: otherwise `gym eval compare` refuses them."""
    try:
        before = read_run(old, measure)
        refuse_other_servers([before, FinishedRun(new, [], read_record_if_any(new))], compared=True)
    except UserError:
        return False
    return all(values_of(before.rows, name) == list(values) for name, values in measure.items())


def plan_reverification(args: argparse.Namespace) -> Evaluation:
    """What a command line asks for.

    Raises:
        UserError: It cannot be done so.
    """
    files = files_to_write(args.output)
    _refuse_contradictions(args)
    if not args.append:
        files.refuse_sources([args.inputs, args.rollouts, RunFiles.read_from(args.rollouts).failures])
    stored = read_stored(args.inputs, args.rollouts)
    chosen = select(stored, judge_failed_only=args.judge_failed_only, limit=args.limit)
    agent, verifier, instances = _servers(args, chosen)
    components = find_components(args)
    return Evaluation(
        servers=lambda: running(instances),
        instances=instances,
        attempt=lambda calls: _attempt(calls, verifier, chosen),
        agent=agent,
        scorer=verifier,
        rows=chosen.rows,
        files=files,
        concurrency=args.concurrency or DEFAULT_CONCURRENCY,
        max_attempts=max_attempts(),
        resume=args.resume,
        overwrite=args.overwrite,
        joins=args.append,
        aggregate=not args.disable_aggregation,
        configuration=words_of_configuration(args),
        only=chosen.only,
        judging=frozenset(instance.name for instance in instances),
        carried=chosen.carried.rows(),
        carried_from=RunFiles.of(args.rollouts) if chosen.carried and not args.append else None,
        source={"reverifies": stored.sha256, "judge_failed_only": args.judge_failed_only},
        prices=prices_of(instances),
        meter=meter_of(components, instances, verifier),
    )


async def _attempt(calls: ServerCalls, verifier: str, chosen: Selection) -> Attempt:
    await refuse_unsupported(calls, verifier)
    return ReverifyAttempt(calls, verifier, chosen.stored)


def _refuse_contradictions(args: argparse.Namespace) -> None:
    if args.append and not args.judge_failed_only:
        raise UserError("only recovered judgings can be added to what is there", where="--append", mend="add --judge-failed-only")
    if sum((args.resume, args.overwrite, args.append)) > 1:
        raise UserError("--resume, --overwrite and --append exclude each other", mend="give one of them")
    if args.append and real(args.output) != real(args.rollouts):
        raise UserError(
            f"recovered judgings can only be added to the run that they are of, {args.rollouts}",
            where="--output",
            mend="name that file, or leave --append out",
        )


def _servers(args: argparse.Namespace, chosen: Selection) -> tuple[str, str, Sequence[Instance]]:
    """Agent, verifier, and the instances that judging needs; keys and endpoints of all others need not be set."""
    agent, verifier = agent_and_verifier(args, agent_named_in(chosen.rows[0]))
    needed = load_setup(args, only=verifier)
    warn(stderr_console(), needed.config.warnings)
    faults = check_references(needed.config)
    if faults:
        raise together(faults, "references are wrong")
    return agent, verifier, needed.config.instances(needed.components)


def _announce(evaluation: Evaluation, console: Console) -> None:
    count = len(evaluation.only or evaluation.rows)
    at_once = min(evaluation.concurrency, count)
    what = f"judging {counted(count, 'conversation')} again with {evaluation.scorer}"
    console.print(f"{what}, {at_once} at once -> {evaluation.files.rollouts}")
