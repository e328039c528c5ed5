# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a run that has ended: what it came to, where its files are, and what to do next."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from gym_host.cli.output import say_next, show_tables, stdout_console
from gym_host.interrupts import INTERRUPTED
from gym_host.runs.outcome import Outcome, Result
from gym_host.runs.run_files import RunFiles
from gym_host.wording import printable, without_score

_ONE_MEASURE = "judge all of it again by one measure (`gym eval reverify`), before any of these figures is used"
GO_ON = "run the same command with --resume; what is scored stays, the rest is tried again"


def go_on(args: argparse.Namespace) -> str:
    """What to do about a run that is not whole; with --overwrite in the same command it would be refused, or all be done anew."""
    return GO_ON.replace("--resume", "--resume in place of --overwrite") if args.overwrite else GO_ON


def exit_code(outcome: Outcome) -> int:
    """The exit code for how a run ended."""
    if outcome.interrupted:
        return INTERRUPTED
    return 0 if outcome.complete and not outcome.mixed else 1


def show_outcome(
    result: Result, files: RunFiles, *, go_on: str = GO_ON, done: str, note: str | None = None, report: Path | None = None
) -> None:
    """Prints what a run came to: what is missing first, then the metrics, the files, and what to do next.

    Args:
        result: What it came to.
        files: Its files.
        go_on: What to do about what is missing, as long as something can be done.
        done: What to do when nothing is missing, and all was rated by one measure.
        note: What else there is to say of it.
        report: The page that shows the run, if one was written.
    """
    console = stdout_console()
    _show_result(console, result, files, report)
    if note is not None:
        console.print(note)
    say_next(_next(result, files, go_on, done))


def _show_result(console: Console, result: Result, files: RunFiles, report: Path | None) -> None:
    if not result.complete:
        missing = result.planned - result.scored
        console.print(without_score(missing, result.planned))
    for name, count in sorted(result.failures.items()):
        console.print(f"  {count} failed as {printable(name)}")
    for name, said in () if result.complete else result.refusing.items():
        console.print(f"  {name} {said}")
    if result.left_out:
        console.print(f"  {result.left_out} left out: unfinished, beyond --limit, or unjudged (see --judge-failed-only)")
    for name, values in result.mixed.items():
        different = ", ".join(printable(str(value)) for value in values)
        console.print(f"MIXED: `{name}` is not the same in all rows: {different}")
    summary, cost = result.summary or {}, result.cost or {}
    tables = [*(summary.get("tables") or ()), *(cost.get("tables") or ())]
    show_tables(console, tables, [*(cost.get("notes") or ()), *(summary.get("notes") or ())])
    console.print(_counts(result))
    for what, path in (
        ("rollouts", files.rollouts),
        ("failures", files.failures),
        ("rows as dispatched", files.inputs),
        ("metrics", files.metrics),
        ("what was run", files.run),
        ("report", report),
    ):
        if path is not None and path.exists() and path.stat().st_size:
            console.print(f"  {what:<20}{path}")


def _counts(result: Result) -> str:
    failed = f"{result.failures.total()} failed"
    if result.counted:
        return f"{result.scored} of {result.planned} rollouts scored, {failed}."
    return f"{result.scored} rollouts scored, {failed}; how many were planned is not known, since no file here tells it."


def _next(result: Result, files: RunFiles, go_on: str, done: str) -> str:
    if result.complete:
        return _ONE_MEASURE if result.mixed else done
    missing = result.planned - result.scored
    if result.given_up + result.left_out < missing:
        if result.refusing:
            # What is scored was made by these models at these addresses.
            limit = "; only the key may be another one, as rollouts are scored: another address or model is a run of its own"
            return f"mend what {', '.join(result.refusing)} refused (above), then {go_on}{limit if result.scored else ''}"
        return go_on if result.scored or not result.failures else f"see in {files.failures} why nothing is scored, then {go_on}"
    if not result.given_up:
        return "finish the run that the conversations come from (`gym eval run ... --resume`), then judge them again"
    return (
        "see why in the failures file; no attempts are left. What was to be tried again goes on with --resume and a higher "
        "NEMO_GYM_MAX_ROLLOUT_ATTEMPTS; a row that does not fit is to be mended, and run anew"
    )
