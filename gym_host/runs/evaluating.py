# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Doing an evaluation: rows in, rollouts and metrics out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import orjson
from rich.console import Console

from gym_host.atomic import write_json, write_whole
from gym_host.config.models import models_shown
from gym_host.errors import ServerError, UserError
from gym_host.interrupts import cancelled_by_signals
from gym_host.journal import Journal
from gym_host.jsonl import Json
from gym_host.runs.attempts import Attempt, Task
from gym_host.runs.belonging import Belonging
from gym_host.runs.brake import Brake
from gym_host.runs.cost import USAGE, Meter, SafeMeter, add_failures, take_prices
from gym_host.runs.evaluation import Evaluation
from gym_host.runs.failures import FailedBefore
from gym_host.runs.fields import values_of
from gym_host.runs.going_on import FORGIVEN, failed_before, forgive_failures, refuse_other_scorer, settle_record
from gym_host.runs.identity import run_identity
from gym_host.runs.keys import FAILURE_CLASS, Key, key_of
from gym_host.runs.metrics_file import metrics_entry
from gym_host.runs.outcome import Outcome
from gym_host.runs.outputs import refuse_existing
from gym_host.runs.preflight import refuse_unreachable
from gym_host.runs.progress import Counts, RunState, display_on, say, shown
from gym_host.runs.replacing import DroppedOnceScored, drop, kept, set_aside
from gym_host.runs.rollouts import Collector
from gym_host.runs.run_files import RunFiles, mend
from gym_host.runs.run_record import begin, end
from gym_host.runs.scoreboard import MetricFields, Scoreboard, metric_fields
from gym_host.runs.scored import Scored
from gym_host.runs.standing import Standing
from gym_host.runs.tasks import described
from gym_host.serving.calls import ServerCalls
from gym_host.serving.garbage import rare_collections
from gym_host.wording import counted


@dataclass(slots=True)
class _Run:
    """An evaluation in progress."""

    evaluation: Evaluation
    console: Console
    calls: ServerCalls
    attempt: Attempt
    scored: Scored
    wanted: MetricFields
    failed: dict[Key, FailedBefore] = field(default_factory=dict)
    record: Json = field(default_factory=dict)
    meter: Meter | None = None
    refusing: Mapping[str, str] = field(default_factory=dict)
    stopped: bool = False

    @property
    def files(self) -> RunFiles:
        return self.evaluation.files

    def seen(self, row: Json) -> None:
        """Takes a row that an earlier run made into the cost."""
        if self.meter is not None:
            self.meter.add(row)


async def evaluate(evaluation: Evaluation, console: Console) -> Outcome:
    """Does an evaluation.

    Args:
        evaluation: What is to be done.
        console: Where progress is shown.

    Raises:
        UserError: A fault that the user can mend; nothing that was written before is lost.
    """
    with evaluation.files.locked():
        _refuse_existing(evaluation)
        async with evaluation.servers() as calls:
            await refuse_unreachable(calls, evaluation.instances)
            attempt = await evaluation.attempt(calls)
            wanted = await metric_fields(calls, evaluation.scorer)
            run = _Run(evaluation, console, calls, attempt, Scored(wanted.fields), wanted)
            await _open(run)
            with rare_collections():
                interrupted = await _collect(run)
            return await _close(run, interrupted=interrupted)


def _refuse_existing(evaluation: Evaluation) -> None:
    """Refuses to touch files that are there, unless told to go on with them or to replace them."""
    refuse_existing(
        evaluation.files.all,
        overwrite=evaluation.resume or evaluation.joins or evaluation.overwrite,
        mend="go on with it (--resume), replace it (--overwrite), or choose another --output",
    )


async def _open(run: _Run) -> None:
    """Settles which run this is, and what an earlier one left."""
    evaluation, files = run.evaluation, run.files
    identity = await run_identity(described(evaluation.rows), evaluation.agent, evaluation.instances, run.calls)
    if evaluation.carried_from is not None:
        refuse_other_scorer(evaluation.carried_from, identity)
    if evaluation.overwrite:
        set_aside(files)  # Only now, when the servers run. The page can be made anew from what is kept.
        files.drop_report()
    run.record = settle_record(
        files, identity | evaluation.source, rows=evaluation.rows, joins=evaluation.joins, judging=evaluation.judging
    )
    run.record.setdefault("configuration", evaluation.configuration)
    take_prices(run.record, evaluation.prices)
    if evaluation.meter is not None:
        run.meter = SafeMeter(evaluation.meter(run.record), lambda line: say(run.console, line, style="yellow"))
    for torn in mend(files):
        say(run.console, f"half a line at the end of the file was put aside as {torn}")
    if files.rollouts.exists():
        rows = {key_of(row): row for row in evaluation.rows}
        run.scored.load(files.rollouts, Belonging(rows, run.scored.fields or ()), seen=run.seen)
    if run.meter is not None:
        add_failures(run.meter, files.failures)
    run.failed = failed_before(files, run.record)
    if not (evaluation.joins and files.inputs.exists()):
        write_whole(files.inputs, (orjson.dumps(row) + b"\n" for row in evaluation.rows))
    begin(files, run.record, concurrency=evaluation.concurrency)
    _carry_over(run)


def _carry_over(run: _Run) -> None:
    journal: Journal | None = None
    for row in run.evaluation.carried:
        key = key_of(row)
        if key not in run.scored:
            if journal is None:
                run.files.drop_report()
                journal = Journal(run.files.rollouts)
            run.seen(row)
            run.scored.add(key, row, journal.append(row))
    if journal is not None:
        journal.close()


async def _collect(run: _Run) -> bool:
    """Attempts what is not scored yet; returns whether a signal stopped it."""
    evaluation = run.evaluation
    todo = [task for task in _unscored(run) if not (_left_out(task, evaluation) or _given_up(task, evaluation))]
    counts = Counts(len(evaluation.rows), scored_before=len(run.scored))
    counts.given_up = counts.left - len(todo)
    if not todo:
        return False
    for line in models_shown(evaluation.instances):
        say(run.console, line)
    run.files.drop_report()
    rollouts, failures = Journal(run.files.rollouts), Journal(run.files.failures)
    state = RunState(counts, warn=lambda line: say(run.console, line, style="yellow"), meter=run.meter)
    scoreboard = Scoreboard(run.calls, evaluation.scorer, run.scored, run.wanted.shown)
    standing = Standing(run.calls)
    await standing.begin(instance.name for instance in evaluation.instances)
    brake = Brake(standing, DroppedOnceScored(run.files, state), state.warn, left=len(todo), scored=len(run.scored) > 0)
    collector = Collector(run.attempt, rollouts, failures, run.scored, brake, brake.may_begin)
    collecting = asyncio.ensure_future(collector.collect(todo, concurrency=min(evaluation.concurrency, len(todo))))
    try:
        with cancelled_by_signals(collecting) as stopped:
            async with brake.watching(), shown(state, scoreboard, display_on(run.console, counts)):
                try:
                    await collecting
                except asyncio.CancelledError:
                    if not stopped():
                        raise
            run.stopped, run.refusing = brake.stopped, await standing.refusing()
            return stopped()
    finally:
        rollouts.close()
        failures.close()


def _unscored(run: _Run) -> list[Task]:
    return [Task(row, run.failed.get(key_of(row))) for row in run.evaluation.rows if key_of(row) not in run.scored]


def _left_out(task: Task, evaluation: Evaluation) -> bool:
    return evaluation.only is not None and task.key not in evaluation.only


def _given_up(task: Task, evaluation: Evaluation) -> bool:
    if task.failed is None or evaluation.joins:
        return False
    return task.failed.terminal or task.failed.attempts - task.failed.forgiven >= evaluation.max_attempts


async def _close(run: _Run, *, interrupted: bool) -> Outcome:
    """Sorts, counts, and writes the end of the record and the metrics."""
    evaluation, files = run.evaluation, run.files
    if run.stopped:
        forgive_failures(files, run.record, FORGIVEN)
    run.failed = failed_before(files, run.record)
    unscored = _unscored(run)
    wanted = [task for task in unscored if not _left_out(task, evaluation)]
    outcome = Outcome(
        planned=len(evaluation.rows),
        scored=len(run.scored),
        failures=Counter(str(task.failed.last.get(FAILURE_CLASS)) for task in unscored if task.failed),
        given_up=sum(_given_up(task, evaluation) for task in wanted),
        interrupted=interrupted,
        left_out=len(unscored) - len(wanted),
        cost=run.meter.summary() if run.meter is not None else None,
        refusing=run.refusing,
    )
    _settle_replaced(run)
    if not interrupted and files.rollouts.exists():
        run.scored.sort(files.rollouts)
    status = "interrupted" if interrupted else "complete" if outcome.complete else "incomplete"
    counts = {"planned": outcome.planned, "scored": outcome.scored, "failed": dict(outcome.failures)}
    if run.meter is not None:
        run.record[USAGE] = run.meter.to_json()
    end(files, run.record, status=status, counts=counts)
    return await _aggregated(run, outcome) if evaluation.aggregate and not interrupted else outcome


def _settle_replaced(run: _Run) -> None:
    """Lets go of the run that this one replaced, if this one came to something; else says where it is."""
    if len(run.scored):
        drop(run.files)
    left = kept(run.files)
    if left:
        more = f" and {counted(len(left) - 1, 'file')} beside it" if len(left) > 1 else ""
        say(run.console, f"nothing was scored, so what was to be replaced is kept as {left[0]}{more}")


async def _aggregated(run: _Run, outcome: Outcome) -> Outcome:
    scoreboard = Scoreboard(run.calls, run.evaluation.scorer, run.scored)
    try:
        metrics = await scoreboard.aggregate()
    except ServerError as error:
        raise UserError(
            f"the metrics could not be computed: {error}",
            where=str(run.files.rollouts),
            mend="repair what it names, then run the same command with --resume",
        ) from None
    outcome = replace(outcome, metrics=metrics, measure={name: values_of(run.scored.rows(), name) for name in run.wanted.uniform})
    write_json(run.files.metrics, [metrics_entry(run.evaluation.agent, metrics, outcome)])
    return replace(outcome, summary=await scoreboard.summary(metrics))
