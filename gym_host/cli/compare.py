# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval compare`: runs over the same rows, paired conversation by conversation."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import Any

from gym_host.atomic import write_json
from gym_host.cli.output import show_tables, stdout_console
from gym_host.cli.parser import add_config_flags
from gym_host.cli.report import PAGES, write_page
from gym_host.cli.scorer import Scorer, find_scorer
from gym_host.cli.views import views_by
from gym_host.errors import OutputError, ServerError, UserError
from gym_host.jsonl import Json
from gym_host.runs.comparable import refuse_mixed, refuse_other_servers
from gym_host.runs.finished import FinishedRun, read_run
from gym_host.runs.outputs import refuse_output
from gym_host.runs.scoreboard import metric_fields
from gym_host.runs.stored_run import open_run
from gym_host.serving.calls import ServerCalls
from gym_host.serving.local import running

VIEW = "comparison"


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    parser.add_argument("base", type=Path, metavar="BASE", help="rollouts of the run to compare with")
    parser.add_argument("others", type=Path, nargs="+", metavar="OTHER", help="rollouts of the runs to compare")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="write the comparisons there too (.json)")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a page that shows both runs side by side (.html)")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")


def run(args: argparse.Namespace) -> int:
    """Compares runs.

    Returns:
        0.
    """
    _refuse_output(args)
    scorer = find_scorer(args, args.base)
    comparisons = asyncio.run(_compare(scorer, args.base, args.others))
    if args.output is not None:
        write_json(args.output, comparisons)
    if args.report is not None:
        _write_report(args, scorer, comparisons[0])
    _show(args, comparisons)
    return 0


def _show(args: argparse.Namespace, comparisons: list[Json]) -> None:
    console = stdout_console()
    for sentence in dict.fromkeys(sentence for comparison in comparisons for sentence in comparison["incomplete"]):
        console.print(sentence)
    for comparison in comparisons:
        console.print(f"base:  {comparison['base']}\nother: {comparison['other']}\n")
        show_tables(console, comparison["tables"], comparison["notes"])
        console.print()
    for caveat in dict.fromkeys(comparison["caveat"] for comparison in comparisons if comparison.get("caveat")):
        console.print(caveat)
    if args.output is not None:
        console.print(f"written to {args.output}")
    if args.report is not None:
        console.print(f"written to {args.report}")
        console.print(f"next: open {args.report} in a browser, and read the conversations that differ")
    else:
        console.print("next: read the conversations that differ; in both files they have the same `id`")


def _write_report(args: argparse.Namespace, scorer: Scorer, comparison: Json) -> None:
    view = views_by(args, scorer, args.base).view(VIEW)
    write_page(args.report, view(open_run(args.base), open_run(args.others[0]), comparison))


def _refuse_output(args: argparse.Namespace) -> None:
    runs = [args.base, *args.others]
    refuse_output(args.report, endings=PAGES, what="a page", overwrite=args.overwrite, flag="--report", reads=runs)
    if args.report is not None and len(args.others) > 1:
        raise OutputError("a page shows two runs", where="--report", mend="name one OTHER run, and make a page for each")
    refuse_output(args.output, endings=(".json",), what="a comparison", overwrite=args.overwrite, reads=runs)


async def _compare(scorer: Scorer, base_path: Path, other_paths: list[Path]) -> list[Json]:
    async with running(scorer.instances) as calls:
        wanted = await metric_fields(calls, scorer.name)
        fields = None if wanted.fields is None else [*wanted.fields, *wanted.compared]
        base, *others = (read_run(path, fields) for path in [base_path, *other_paths])
        for run in (base, *others):
            if not run.rows:
                raise UserError(f"{run.path} holds no rollouts")
        refuse_mixed([base, *others], wanted.uniform, compared=True)
        refuse_other_servers([base, *others], compared=True)
        return [await _pair(calls, scorer.name, base, other) for other in others]


async def _pair(calls: ServerCalls, scorer: str, base: FinishedRun, other: FinishedRun) -> Json:
    try:
        found: Any = await calls.call(scorer, "/compare", {"base": base.rows, "other": other.rows})
    except ServerError as error:
        why = f"the server `{scorer}` compares no runs" if error.status in (404, 405) else error.message
        raise UserError(f"{base.path} and {other.path} cannot be compared: {why}") from None
    if not found["num_pairs"]:
        raise UserError(f"{base.path} and {other.path} have no conversation in common, so there is nothing to compare")
    incomplete = [
        f"INCOMPLETE: {run.path} lacks {run.missing} of its {run.planned} rollouts." for run in (base, other) if run.missing
    ]
    return {"base": str(base.path), "other": str(other.path), "incomplete": incomplete, **found}
