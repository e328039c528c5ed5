# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One evaluation: from a configuration and a dataset to the files of a run."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson
from rich.console import Console

from gym_host.calls import ServerCalls
from gym_host.config import Instance
from gym_host.errors import OutputError, ServerError, UserError
from gym_host.identity import refuse_other_run, run_identity, versions
from gym_host.jsonl import Journal, Json, write_json, write_whole
from gym_host.local import running
from gym_host.progress import BarDisplay, Counts, Display, LineDisplay, RunState, shown
from gym_host.rollouts import Collector, Task
from gym_host.run_files import FAILURE_CLASS, FailedBefore, Key, RunFiles, Scored, key_of, mend, read_failures
from gym_host.scoreboard import Scoreboard, metric_fields
from gym_host.tasks import described

_HAS_NONE = (404, 405, 501)
"""Statuses of a server that has no such endpoint."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be run.

    Attributes:
        instances: The servers.
        agent: Name of the agent instance.
        verifier: Name of its resources server, or None.
        rows: The rows as dispatched.
        files: Where everything goes.
        concurrency: Rollouts at once.
        max_attempts: Failed attempts after which a rollout is given up.
        resume: Go on with what is there.
        overwrite: Remove what is there.
        aggregate: Compute metrics at the end.
    """

    instances: Sequence[Instance]
    agent: str
    verifier: str | None
    rows: Sequence[Json]
    files: RunFiles
    concurrency: int
    max_attempts: int = 3
    resume: bool = False
    overwrite: bool = False
    aggregate: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an evaluation ended.

    Attributes:
        planned: Rollouts of the run.
        scored: Rollouts that are scored, earlier ones included.
        failures: Failure class -> rollouts without a score that failed so last.
        interrupted: True if it was stopped by a signal.
        metrics: The agent's answer to `/aggregate_metrics`, or None.
        summary: The agent's tables, or None.
    """

    planned: int
    scored: int
    failures: Counter[str]
    interrupted: bool
    metrics: Json | None = None
    summary: Any = None

    @property
    def complete(self) -> bool:
        return self.scored == self.planned


@dataclass(slots=True)
class Run:
    """An evaluation in progress."""

    evaluation: Evaluation
    console: Console
    calls: ServerCalls
    scored: Scored
    failed: dict[Key, FailedBefore] = field(default_factory=dict)
    record: Json = field(default_factory=dict)

    @property
    def files(self) -> RunFiles:
        return self.evaluation.files


async def evaluate(evaluation: Evaluation, console: Console) -> Outcome:
    """Runs an evaluation.

    Args:
        evaluation: What is to be run.
        console: Where progress is shown.

    Raises:
        UserError: A fault that the user can mend; nothing that was written before is lost.
    """
    with evaluation.files.locked():
        _refuse_existing(evaluation)
        async with running(evaluation.instances) as calls:
            await _refuse_unreachable(calls, evaluation.instances)
            scored = Scored(await metric_fields(calls, evaluation.agent))
            run = Run(evaluation, console, calls, scored)
            await _open(run)
            interrupted = await _collect(run)
            return await _close(run, interrupted=interrupted)


async def _refuse_unreachable(calls: ServerCalls, instances: Sequence[Instance]) -> None:
    """Asks every server that can say so whether what stands behind it can be reached, before any row is spent on finding out.

    Raises:
        UserError: Something cannot be reached; each is named.
    """

    async def trouble(name: str) -> str | None:
        try:
            await calls.call(name, "/preflight")
        except ServerError as error:
            return None if error.status in _HAS_NONE else f"{name}: {error.message}"
        return None

    found = [text for text in await asyncio.gather(*(trouble(instance.name) for instance in instances)) if text]
    if found:
        raise UserError(
            "\n  ".join(["nothing was run, since these cannot be reached:", *found]),
            mend="start what is to answer there, or set base_url",
        )


def _refuse_existing(evaluation: Evaluation) -> None:
    """Refuses to touch files that are there, unless told to go on with them or to replace them."""
    existing = evaluation.files.existing()
    if existing and not evaluation.resume and not evaluation.overwrite:
        raise OutputError(
            f"{existing[0]} is already there",
            where="--output",
            mend="go on with it (--resume), replace it (--overwrite), or choose another --output",
        )


async def _open(run: Run) -> None:
    """Settles which run this is, and what an earlier one left."""
    evaluation, files = run.evaluation, run.files
    identity = await run_identity(described(evaluation.rows), evaluation.agent, evaluation.instances, run.calls)
    if evaluation.overwrite and not evaluation.resume:
        # Only now, when the servers run; and the record first, without which nobody takes the rest for a run.
        for path in reversed(files.existing()):
            path.unlink()
    resumed = files.run.exists()
    record = _earlier_record(run, identity) if resumed else {"identity": identity, "started_at": _now()}
    if not resumed:
        _refuse_unclaimed(files)
    if files.rollouts.exists():
        run.scored.load(files.rollouts)
        _refuse_strangers(run)
    run.failed = read_failures(files.failures)
    if not resumed or not files.inputs.exists():
        write_whole(files.inputs, (orjson.dumps(row) + b"\n" for row in evaluation.rows))
    run.record = record | {"versions": versions(), "concurrency": evaluation.concurrency, "status": "running"}
    write_json(files.run, run.record)


def _earlier_record(run: Run, identity: Json) -> Json:
    """The record of the run that this one goes on with; half last lines that it left are put aside."""
    record = _read_record(run.files)
    refuse_other_run(record.get("identity", {}), identity, where=str(run.files.run))
    for torn in mend(run.files):
        _say(run.console, f"half a line at the end of the file was put aside as {torn}")
    return record


def _refuse_unclaimed(files: RunFiles) -> None:
    unclaimed = next((path for path in (files.rollouts, files.failures) if path.exists()), None)
    if unclaimed is not None:
        raise OutputError(
            f"{unclaimed} is there without {files.run.name}, so it cannot be told which run it belongs to",
            where="--resume",
            mend="choose another --output",
        )


def _read_record(files: RunFiles) -> Json:
    try:
        record = orjson.loads(files.run.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise OutputError(f"{files.run} cannot be read: {error}", mend="choose another --output") from None
    return record if isinstance(record, dict) else {}


def _refuse_strangers(run: Run) -> None:
    known = {key_of(row) for row in run.evaluation.rows}
    stranger = next((key for key in run.scored if key not in known), None)
    if stranger is not None:
        raise OutputError(f"{run.files.rollouts} holds the rollout {stranger}, which is not in {run.files.inputs}")


async def _collect(run: Run) -> bool:
    """Runs what is not scored yet; returns whether a signal stopped it."""
    evaluation = run.evaluation
    tasks = [Task(row, run.failed.get(key_of(row))) for row in evaluation.rows if key_of(row) not in run.scored]
    todo = [task for task in tasks if not _given_up(task, evaluation.max_attempts)]
    counts = Counts(len(evaluation.rows), scored_before=len(run.scored), given_up=len(tasks) - len(todo))
    if not todo:
        return False
    rollouts, failures = Journal(run.files.rollouts), Journal(run.files.failures)
    state = RunState(counts, warn=lambda line: _say(run.console, line, style="yellow"))
    verifier = await _stateless(run.calls, evaluation.verifier)
    collector = Collector(run.calls, evaluation.agent, verifier, rollouts, failures, run.scored, state)
    collecting = asyncio.ensure_future(collector.collect(todo, concurrency=min(evaluation.concurrency, len(todo))))
    try:
        with _cancelled_by_signals(collecting) as stopped:
            async with shown(state, Scoreboard(run.calls, evaluation.agent, run.scored), _display(run.console, counts)):
                try:
                    await collecting
                except asyncio.CancelledError:
                    if not stopped():
                        raise
            return stopped()
    finally:
        rollouts.close()
        failures.close()


def _given_up(task: Task, max_attempts: int) -> bool:
    return task.failed is not None and (task.failed.terminal or task.failed.attempts >= max_attempts)


async def _stateless(calls: ServerCalls, verifier: str | None) -> str | None:
    """The verifier, if it can judge a stored conversation again."""
    if verifier is None:
        return None
    try:
        return verifier if await calls.call(verifier, "/reverify_mode") == "stateless" else None
    except ServerError:
        return None


def _display(console: Console, counts: Counts) -> Display:
    if console.is_terminal:
        return BarDisplay(console, counts)
    return LineDisplay(lambda line: _say(console, line))


def _say(console: Console, line: str, *, style: str | None = None) -> None:
    """Prints a line as it stands: nothing in it is markup, whatever brackets a provider's words have."""
    console.print(line, style=style, markup=False, emoji=False, highlight=False, soft_wrap=True)


@contextmanager
def _cancelled_by_signals(task: asyncio.Future[None]) -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM cancel a task in place of ending the process."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def cancel(number: int) -> None:
        received.append(number)
        task.cancel()

    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, cancel, number)
    try:
        yield lambda: bool(received)
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def _close(run: Run, *, interrupted: bool) -> Outcome:
    """Sorts, counts, and writes the metrics and the end of the record."""
    evaluation, files = run.evaluation, run.files
    outcome = Outcome(len(evaluation.rows), len(run.scored), _failures(run), interrupted)
    if not interrupted and files.rollouts.exists():
        run.scored.sort(files.rollouts)
    status = "interrupted" if interrupted else "complete" if outcome.complete else "incomplete"
    counts = {"planned": outcome.planned, "scored": outcome.scored, "failed": dict(outcome.failures)}
    run.record |= {"status": status, "ended_at": _now(), "counts": counts}
    write_json(files.run, run.record)
    return await _aggregated(run, outcome) if evaluation.aggregate and not interrupted else outcome


def _failures(run: Run) -> Counter[str]:
    """How the rollouts without a score failed last."""
    failed = read_failures(run.files.failures)
    return Counter(str(before.last.get(FAILURE_CLASS)) for key, before in failed.items() if key not in run.scored)


async def _aggregated(run: Run, outcome: Outcome) -> Outcome:
    scoreboard = Scoreboard(run.calls, run.evaluation.agent, run.scored)
    try:
        metrics = await scoreboard.aggregate()
    except ServerError as error:
        raise UserError(f"the metrics could not be computed: {error}", mend="run the same command with --resume") from None
    entry = {
        "agent_ref": {"name": run.evaluation.agent},
        "agent_metrics": metrics["agent_metrics"],
        "key_metrics": metrics["key_metrics"],
        "group_level_metrics": metrics["group_level_metrics"],
        "num_planned": outcome.planned,
        "num_scored": outcome.scored,
        "num_failed": outcome.failures.total(),
        "failures_by_class": dict(outcome.failures),
        "complete": outcome.complete,
    }
    write_json(run.files.metrics, [entry])
    summary = await scoreboard.summary(metrics["agent_metrics"])
    return Outcome(outcome.planned, outcome.scored, outcome.failures, outcome.interrupted, metrics, summary)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
