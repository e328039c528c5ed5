# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval run`: starts the servers, collects rollouts, computes the metrics."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from gym_host.atomic import real
from gym_host.cli.end_report import report_at_end
from gym_host.cli.outcome import exit_code, go_on, show_outcome
from gym_host.cli.output import stderr_console, warn
from gym_host.cli.parser import add_config_flags, positive, share, temperature
from gym_host.cli.run_options import DEFAULT_CONCURRENCY, add_run_flags, max_attempts, meter_of
from gym_host.cli.setup import Setup, load_setup, verifier_of, words_of_configuration
from gym_host.cli.streams import unread_output_forgiven
from gym_host.config.configuration import Instance
from gym_host.config.datasets import AGENTS, pick_agent, pick_dataset
from gym_host.config.prices import prices_of
from gym_host.config.references import check_references, needed_only_by
from gym_host.config.request_params import PARAMS
from gym_host.errors import ConfigError
from gym_host.runs.attempts import run_attempt
from gym_host.runs.evaluating import evaluate
from gym_host.runs.evaluation import Evaluation
from gym_host.runs.links import files_to_write
from gym_host.runs.run_files import RunFiles
from gym_host.runs.tasks import Plan, materialize
from gym_host.serving.head_client import running_servers
from gym_host.serving.limits import raise_file_limit
from gym_host.serving.local import load_program, running
from gym_host.wording import counted, quoted, together


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    data = parser.add_argument_group("rows")
    data.add_argument("--agent", "-a", metavar="AGENT", help="the agent instance that runs the rows")
    data.add_argument("--input", "-i", type=Path, metavar="FILE", help="rows (JSON lines) in place of the benchmark's own")
    data.add_argument("--split", default="benchmark", help="the dataset to run (default: benchmark)")
    data.add_argument("--limit", type=positive, metavar="N", help="run the first N rows only")
    data.add_argument("--num-repeats", type=positive, metavar="N", help="rollouts of each row")
    data.add_argument("--interleave-repeats", action="store_true", help="dispatch repeats round by round")
    run = parser.add_argument_group("run")
    run.add_argument(
        "--output", "-o", type=Path, metavar="FILE", help="where rollouts go (.jsonl); its other files lie beside it"
    )
    existing = run.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="go on with what is there")
    existing.add_argument("--overwrite", action="store_true", help="replace what is there")
    run.add_argument("--no-serve", action="store_true", help="use the servers of `gym env start` instead of starting any")
    run.add_argument("--head", metavar="URL", help="with --no-serve: their head (default: the one on this machine)")
    add_run_flags(run, what="rollouts")
    sampling = parser.add_argument_group("sampling of the evaluated model")
    sampling.add_argument("--temperature", type=temperature, metavar="T")
    sampling.add_argument("--top-p", type=share, metavar="P")
    sampling.add_argument("--max-output-tokens", type=positive, metavar="N")


def run(args: argparse.Namespace) -> int:
    """Runs an evaluation.

    Returns:
        0 if every rollout is scored, all by one measure; 1 if not; 130 if it was interrupted.
    """
    evaluation = plan_evaluation(args)
    raise_file_limit(2 * evaluation.concurrency)
    console = stderr_console()
    _announce(evaluation, console)
    outcome = asyncio.run(evaluate(evaluation, console))
    part = None if args.limit is None else f"only a part was run: the first {args.limit} rows at most (--limit)"
    report = report_at_end(args, evaluation, outcome)
    done = _done(args, evaluation.files, report)
    with unread_output_forgiven():
        show_outcome(outcome, evaluation.files, go_on=go_on(args), note=part, done=done, report=report)
    return exit_code(outcome)


def _done(args: argparse.Namespace, files: RunFiles, report: Path | None) -> str:
    if args.limit is not None:
        return "run all rows: the same command without --limit, and with another --output"
    compared = f"gym eval compare {quoted(files.rollouts)} OTHER.jsonl holds it against another run"
    return f"open {report} in a browser; {compared}" if report else f"{compared}; the conversations in it tell why"


def plan_evaluation(args: argparse.Namespace) -> Evaluation:
    """What a command line asks for.

    Raises:
        UserError: It cannot be done so.
    """
    if args.output is None:
        raise ConfigError("nothing says where the rollouts go", where="--output", mend="give --output results/my_run.jsonl")
    if args.head is not None and not args.no_serve:
        raise ConfigError("only servers that are running have a head", where="--head", mend="add --no-serve, or leave --head out")
    files = files_to_write(args.output)
    setup = load_setup(args)
    warn(stderr_console(), setup.config.warnings)
    faults = check_references(setup.config, setup.components)
    if faults:
        raise together(faults, "references are wrong")
    instances = setup.config.instances(setup.components)
    agents = [instance for instance in instances if instance.type == AGENTS]
    agent, dataset, plan = _plan(args, setup, agents)
    if not (args.resume and real(dataset) == real(files.inputs)):
        files.refuse_sources([dataset])
    return Evaluation(
        servers=lambda: running_servers(args.head, instances) if args.no_serve else running(instances),
        instances=instances,
        attempt=lambda calls: run_attempt(calls, agent.name, verifier_of(agent)),
        agent=agent.name,
        scorer=agent.name,
        rows=materialize(dataset, plan),
        files=files,
        concurrency=args.concurrency or DEFAULT_CONCURRENCY,
        max_attempts=max_attempts(),
        resume=args.resume,
        overwrite=args.overwrite,
        aggregate=not args.disable_aggregation,
        judging=needed_only_by(setup.config, verifier_of(agent), beneath=agent.name),
        configuration=words_of_configuration(args),
        prices=prices_of(instances),
        meter=meter_of(setup.components, instances, verifier_of(agent)),
    )


def _plan(args: argparse.Namespace, setup: Setup, agents: list[Instance]) -> tuple[Instance, Path, Plan]:
    repeats = 1
    if args.input is not None:
        agent = pick_agent(agents if args.agent else _with_split(agents, args.split) or agents, args.agent)
        dataset, source = args.input, agent.name
    else:
        chosen = [pick_agent(agents, args.agent)] if args.agent else agents
        found = pick_dataset(setup.config, setup.components, chosen, args.split)
        agent = pick_agent(agents, found.agent)
        dataset = found.rows()
        source, repeats = found.agent, found.num_repeats
    plan = Plan(
        agent=agent.name,
        task_source=source,
        limit=args.limit,
        num_repeats=args.num_repeats or repeats,
        interleave_repeats=args.interleave_repeats,
        params=_params(args, setup.config.values),
        row_type=load_program(agent).row_type,
    )
    return agent, dataset, plan


def _with_split(agents: list[Instance], split: str) -> list[Instance]:
    """The agents that have a dataset of a split: they are the ones that rows given by hand are for."""
    return [agent for agent in agents if any(entry.get("type") == split for entry in agent.settings.get("datasets") or ())]


def _params(args: argparse.Namespace, values: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line or the configuration adds to every row's `responses_create_params`."""
    configured = values.get(PARAMS) or {}
    flags = {"temperature": args.temperature, "top_p": args.top_p, "max_output_tokens": args.max_output_tokens}
    return configured | {key: value for key, value in flags.items() if value is not None}


def _announce(evaluation: Evaluation, console: Console) -> None:
    rows, at_once = len(evaluation.rows), min(evaluation.concurrency, len(evaluation.rows))
    console.print(f"{counted(rows, 'rollout')} with {evaluation.agent}, {at_once} at once -> {evaluation.files.rollouts}")
