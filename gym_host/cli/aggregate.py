# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval aggregate`: the metrics of several shards of one evaluation, and the shards as one run."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections import Counter
from dataclasses import replace
from glob import glob
from pathlib import Path

import orjson

from gym_host.atomic import real, write_json, write_whole
from gym_host.cli.outcome import exit_code, show_outcome
from gym_host.cli.output import stderr_console
from gym_host.cli.parser import add_config_flags
from gym_host.cli.scorer import Scorer, find_scorer
from gym_host.cli.setup import words_of_configuration
from gym_host.cli.streams import unread_output_forgiven
from gym_host.distribution import versions
from gym_host.errors import OutputError, ServerError, UserError
from gym_host.jsonl import Json
from gym_host.runs.comparable import refuse_mixed, refuse_other_servers
from gym_host.runs.cost import PRICES
from gym_host.runs.fields import values_of
from gym_host.runs.finished import FinishedRun, Name, read_run
from gym_host.runs.links import files_to_write
from gym_host.runs.metrics_file import metrics_entry
from gym_host.runs.outcome import Outcome
from gym_host.runs.outputs import refuse_existing
from gym_host.runs.run_files import RunFiles
from gym_host.runs.run_record import now, read_record_if_any
from gym_host.runs.scoreboard import Scoreboard, metric_fields
from gym_host.runs.scored import Scored
from gym_host.runs.shards import Merged, merge_shards
from gym_host.serving.local import running
from gym_host.wording import quoted

_OTHER_FILES = ("_failures.jsonl", "_materialized_inputs.jsonl")
_ROW_NAMED = re.compile(r"\bverify_responses\[(\d+)\]")
_SHARDS = "shards"
"""Key of a record that tells an aggregate from a run."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    files = parser.add_argument_group("files")
    files.add_argument(
        "--input-glob", "-i", required=True, metavar="GLOB", help="the shards' rollouts; several globs with commas"
    )
    files.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="the merged rollouts (.jsonl)")
    files.add_argument("--overwrite", action="store_true", help="replace an aggregate that is there")


def run(args: argparse.Namespace) -> int:
    """Merges shards and computes their metrics.

    Returns:
        0 if every rollout of the shards is scored, all by one measure; else 1.
    """
    files = files_to_write(args.output)
    _refuse_existing(files, overwrite=args.overwrite)
    shards = _shards(args.input_glob, files)
    scorer = find_scorer(args, shards[0])
    with files.locked():
        _refuse_existing(files, overwrite=args.overwrite)
        outcome = asyncio.run(_aggregate(scorer, shards, files, words_of_configuration(args)))
    with unread_output_forgiven():
        show_outcome(
            outcome,
            files,
            go_on="finish the shards, each with --resume; then aggregate them again with --overwrite",
            done=f"gym eval report {quoted(files.rollouts)} shows it in a browser; "
            f"gym eval compare {quoted(files.rollouts)} OTHER.jsonl holds it against another run",
        )
    return exit_code(outcome)


def _refuse_existing(files: RunFiles, *, overwrite: bool) -> None:
    existing = files.existing()
    refuse_existing(existing, overwrite=overwrite)
    if existing and _SHARDS not in read_record_if_any(files.rollouts):
        raise OutputError(f"{existing[0]} is no aggregate, but of a run of its own", where="--output", mend="name another file")


def _shards(globs: str, files: RunFiles) -> list[Path]:
    by_pattern = {pattern.strip(): glob(pattern.strip(), recursive=True) for pattern in globs.split(",") if pattern.strip()}
    nothing = next((pattern for pattern, paths in by_pattern.items() if not paths), None)
    if nothing is not None:
        raise UserError(f"no file matches {nothing}", where="--input-glob", mend="quote the glob, as in 'results/part*.jsonl'")
    found = sorted({Path(path) for paths in by_pattern.values() for path in paths})
    shards = [path for path in found if _is_shard(path) and real(path) != real(files.rollouts)]
    if not shards:
        raise UserError(
            f"no rollouts file matches {globs}", where="--input-glob", mend="quote the glob, as in 'results/part*.jsonl'"
        )
    return shards


def _is_shard(path: Path) -> bool:
    return path.suffix == ".jsonl" and not path.name.endswith(_OTHER_FILES) and path.is_file()


async def _aggregate(scorer: Scorer, shards: list[Path], files: RunFiles, configuration: Json) -> Outcome:
    async with running(scorer.instances) as calls:
        wanted = await metric_fields(calls, scorer.name)
        runs = [read_run(shard, wanted.fields) for shard in shards]
        refuse_mixed(runs, wanted.uniform)
        refuse_other_servers(runs)
        merged = merge_shards(shards)
        if not merged.keys:
            raise UserError(f"no rollout is scored in {', '.join(map(str, shards))}", where="--input-glob")
        scored = Scored(wanted.fields)
        for key, row in merged.rows():
            scored.add(key, row, 0)
        scoreboard = Scoreboard(calls, scorer.name, scored)
        try:
            metrics = await scoreboard.aggregate()
        except ServerError as error:
            raise UserError(f"the metrics could not be computed: {error}", where=_place_in(merged, error.message)) from None
        measure = {name: values_of(scored.rows(), name) for name in wanted.uniform}
        summary = await scoreboard.summary(metrics)
        outcome = replace(_outcome(runs, merged), measure=measure, metrics=metrics, summary=summary)
    _say_what_lacks(runs, merged)
    files.drop_report()
    write_json(files.run, _record(runs, merged, outcome) | {"configuration": configuration})
    write_whole(files.rollouts, (orjson.dumps(row) + b"\n" for _, row in merged.rows()))
    write_json(files.metrics, [metrics_entry(scorer.agent, metrics, outcome)])
    return outcome


def _place_in(merged: Merged, message: str) -> str | None:
    """Where the row lies that a server names by its place among all that were merged; None if it names none."""
    found = _ROW_NAMED.search(message)
    names = [name for name, _ in sorted(merged.keys.items(), key=lambda item: item[1])]
    if found is None or int(found[1]) >= len(names):
        return None
    task, rollout = name = names[int(found[1])]
    return f"{merged.places[name][0]}: {task}, rollout {rollout}"


def _outcome(runs: list[FinishedRun], merged: Merged) -> Outcome:
    unscored: dict[Name, str | None] = {}
    for run in runs:
        unscored |= {name: failed for name, failed in run.unscored.items() if name not in merged.keys}
    failures = Counter(failed for failed in unscored.values() if failed is not None)
    for run in runs:
        failures += run.failures
    scored = len(merged.keys)
    planned = scored + len(unscored) + sum(run.uncounted for run in runs)
    return Outcome(planned, scored, failures)


def _say_what_lacks(runs: list[FinishedRun], merged: Merged) -> None:
    for run in runs:
        missing = run.uncounted + sum(name not in merged.keys for name in run.unscored)
        if missing:
            stderr_console().print(f"{run.path} lacks {missing} of its {run.planned} rollouts", style="yellow")


def _record(runs: list[FinishedRun], merged: Merged, outcome: Outcome) -> Json:
    return {
        "status": "complete" if outcome.complete else "incomplete",
        "ended_at": now(),
        "versions": versions(),
        "counts": {"planned": outcome.planned, "scored": outcome.scored, "failed": dict(outcome.failures)},
        "repeated_rows_left_out": merged.repeated,
        PRICES: {server: price for run in runs for server, price in run.record.get(PRICES, {}).items()},
        _SHARDS: [{"rollouts": str(run.path), "rows": len(run.rows), "identity": run.record.get("identity")} for run in runs],
    }
