# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a run."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table

from gym_host.errors import UserError
from gym_host.interrupts import INTERRUPTED
from gym_host.runs.evaluation import Outcome
from gym_host.runs.run_files import RunFiles
from gym_host.wording import harmless, printable, without_score

_WIDTH = 110
"""Columns where no terminal says how many it has."""
_UNBROKEN = 30


class _Reader(Console):
    """A console whose reader may have had enough: that is no error, and no exit code of ours."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def stderr_console() -> Console:
    """Where progress and warnings go: what is printed there stands as it is."""
    return Console(stderr=True, markup=False, emoji=False, highlight=False, soft_wrap=True)


def exit_code(outcome: Outcome) -> int:
    """The exit code for how a run ended."""
    if outcome.interrupted:
        return INTERRUPTED
    return 0 if outcome.complete and not outcome.mixed else 1


def stdout_console(*, wraps: bool = False) -> Console:
    """Where results go.

    Args:
        wraps: Break long lines between words, as prose wants it; otherwise each stays one line, as other programs want it.
    """
    console = _Reader(markup=False, emoji=False, highlight=False, soft_wrap=not wraps)
    if not console.is_terminal:
        console.width = _WIDTH
    return console


_ONE_MEASURE = "judge all of it again by one measure (`gym eval reverify`), before any of these figures is used"
GO_ON = "run the same command with --resume; what is scored stays, the rest is tried again"


def go_on(args: argparse.Namespace) -> str:
    """What to do about a run that is not whole; with --overwrite in the same command it would be refused, or all be done anew."""
    return GO_ON.replace("--resume", "--resume in place of --overwrite") if args.overwrite else GO_ON


def show_outcome(
    outcome: Outcome, files: RunFiles, *, go_on: str = GO_ON, done: str, note: str | None = None, report: Path | None = None
) -> None:
    """Prints how a run ended: what is missing first, then the metrics, the files, and what to do next.

    Args:
        outcome: How it ended.
        files: Its files.
        go_on: What to do about what is missing, as long as something can be done.
        done: What to do when nothing is missing, and all was rated by one measure.
        note: What else there is to say of it.
        report: The page that shows the run, if one was written.
    """
    console = stdout_console()
    _show_outcome(console, outcome, files, report)
    if note is not None:
        console.print(note)
    say_next(_next(outcome, files, go_on, done))


def say_next(what: str) -> None:
    """Prints the last line of a command: what to do next."""
    print(f"next: {what}", flush=True)


def _show_outcome(console: Console, outcome: Outcome, files: RunFiles, report: Path | None) -> None:
    if not outcome.complete:
        missing = outcome.planned - outcome.scored
        console.print(without_score(missing, outcome.planned))
    for name, count in sorted(outcome.failures.items()):
        console.print(f"  {count} failed as {printable(name)}")
    for name, said in outcome.refusing.items():
        console.print(f"  {name} refused every call: {said}")
    if outcome.left_out:
        console.print(f"  {outcome.left_out} left out: unfinished, beyond --limit, or unjudged (see --judge-failed-only)")
    for name, values in outcome.mixed.items():
        different = ", ".join(printable(str(value)) for value in values)
        console.print(f"MIXED: `{name}` is not the same in all rows: {different}")
    tables, notes = _tables(outcome.metrics, outcome.summary) if outcome.metrics is not None else ([], [])
    cost = outcome.cost or {"tables": [], "notes": []}
    show_tables(console, [*tables, *cost["tables"]], [*cost["notes"], *notes])
    console.print(_counts(outcome))
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


def _counts(outcome: Outcome) -> str:
    failed = f"{outcome.failures.total()} failed"
    if outcome.counted:
        return f"{outcome.scored} of {outcome.planned} rollouts scored, {failed}."
    return f"{outcome.scored} rollouts scored, {failed}; how many were planned is not known, since no file here tells it."


def _next(outcome: Outcome, files: RunFiles, go_on: str, done: str) -> str:
    if outcome.complete:
        return _ONE_MEASURE if outcome.mixed else done
    missing = outcome.planned - outcome.scored
    if outcome.refusing:
        return f"mend what {', '.join(outcome.refusing)} refused (above), then {go_on}"
    if outcome.given_up + outcome.left_out < missing:
        return go_on if outcome.scored or not outcome.failures else f"see in {files.failures} why nothing is scored, then {go_on}"
    if not outcome.given_up:
        return "finish the run that the conversations come from (`gym eval run ... --resume`), then judge them again"
    return (
        "see why in the failures file; no attempts are left. What was to be tried again goes on with --resume and a higher "
        "NEMO_GYM_MAX_ROLLOUT_ATTEMPTS; a row that does not fit is to be mended, and run anew"
    )


def show_tables(console: Console, tables: Iterable[Mapping[str, Any]], notes: Iterable[str]) -> None:
    """Prints tables (`title`, `columns`, `rows`, and `prose` where they hold sentences), then sentences.

    Names and reasons in them may be a model's or a stranger's, so nothing in them reaches the terminal but text.
    """
    for table in tables:
        _print_table(console, _table(table))
        console.print()
    for note in notes:
        console.print(harmless(note))


def _tables(metrics: Mapping[str, Any], summary: Any) -> tuple[Sequence[Mapping[str, Any]], Sequence[str]]:
    """The agent's own tables, or its key metrics as one."""
    if isinstance(summary, Mapping) and isinstance(summary.get("tables"), list):
        return summary["tables"], list(summary.get("notes") or ())
    rows = [[name, "-" if value is None else str(value)] for name, value in metrics["key_metrics"].items()]
    return [{"title": "Metrics", "columns": ["", ""], "rows": rows}], []


def _print_table(console: Console, table: Table) -> None:
    """Prints a table, wider than the terminal rather than with a number broken in two; without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(table, crop=False)
        return
    with console.capture() as drawn:
        console.print(table, crop=False)
    console.print("\n".join(line.rstrip() for line in drawn.get().splitlines()), soft_wrap=True)


def _longest_word(texts: Iterable[str]) -> int:
    """The width that no word of a table is broken in, nor a number; what is far longer than those may be."""
    return min(max((cell_len(word) for text in texts for word in harmless(text).split()), default=0), _UNBROKEN)


def _table(content: Mapping[str, Any]) -> Table:
    columns = content["columns"]
    named = any(columns) and not content.get("prose")
    table = Table(
        title=harmless(content["title"]),
        title_justify="left",
        title_style="bold",
        show_header=any(columns),
        box=None,
        pad_edge=False,
    )
    for number, column in enumerate(columns):
        cells = [column, *(row[number] for row in content["rows"] if number < len(row))]
        justify: JustifyMethod = "left" if number == 0 or not named else "right"
        table.add_column(harmless(column), justify=justify, overflow="fold", min_width=_longest_word(cells))
    for row in content["rows"]:
        table.add_row(*map(harmless, row))
    return table


def warn(console: Console, warnings: Iterable[UserError]) -> None:
    """Prints what is not wrong, and should be known before something is started."""
    for warning in warnings:
        console.print(harmless(f"warning: {warning}"), style="yellow")
