# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval show`: a finished run, or one of its conversations, at the terminal."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_host.cli.outcome import show_outcome
from gym_host.cli.output import show_tables, stdout_console
from gym_host.cli.pages import paged, show_page
from gym_host.cli.parser import add_config_flags
from gym_host.cli.views import Views, find_views
from gym_host.errors import UserError
from gym_host.jsonl import Json
from gym_host.runs.cost import METER, add_failures
from gym_host.runs.keys import FAILURE_CLASS
from gym_host.runs.outcome import Result
from gym_host.runs.stored_run import StoredRun, open_run
from gym_host.wording import printable, quoted, suggestion

_NAMES = ("persona", "simulator", "repeat")
"""What one asks for a conversation by; what these are in a row, the resources server's view says."""


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    parser.add_argument("rollouts", type=Path, metavar="ROLLOUTS", help="the run's rollouts (.jsonl)")
    which = parser.add_argument_group("one conversation (a list, if several fit)")
    which.add_argument("--persona", metavar="NAME", help="whose conversation")
    which.add_argument("--simulator", metavar="NAME", help="which user simulator played it")
    which.add_argument("--repeat", metavar="N", help="which repeat of it, from 0")
    which.add_argument("--list", action="store_true", help="list the conversations, all or those that fit")


def run(args: argparse.Namespace) -> int:
    """Shows a run.

    Returns:
        0.
    """
    stored = open_run(args.rollouts)
    if not len(stored) and not stored.failures:
        raise UserError(f"{args.rollouts} holds no rollouts")
    wanted = {name: value for name in _NAMES if (value := getattr(args, name)) is not None}
    views = find_views(args, stored.path)
    if wanted or args.list:
        _show_conversations(views, stored, wanted, as_list=args.list)
    else:
        _show_run(views, stored)
    return 0


def _show_run(views: Views, run: StoredRun) -> None:
    overview = views.view("overview")(run)
    failures = Counter(str(failed.last.get(FAILURE_CLASS)) for failed in run.failures.values())
    planned = run.planned()
    result = Result(
        planned=planned if planned is not None else len(run) + len(run.failures),
        scored=len(run),
        failures=failures,
        measure=overview.get("measure") or {},
        summary=overview,
        cost=_cost(views, run),
        counted=planned is not None,
    )
    show_outcome(
        result,
        run.files,
        go_on="finish the run with --resume; what is scored stays, the rest is tried again",
        done=f"gym eval show {quoted(run.path)} --persona NAME for one conversation, --list for which there are",
        report=run.files.current_report(),
    )


def _cost(views: Views, run: StoredRun) -> Json:
    meter = views.view(METER)(run.record)
    for row in run.rows():
        meter.add(row)
    add_failures(meter, run.files.failures)
    summary: Json = meter.summary()
    return summary


def _show_conversations(views: Views, run: StoredRun, wanted: Mapping[str, str], *, as_list: bool) -> None:
    listing = views.view("conversations")(run)
    entries = fitting(listing["entries"], wanted)
    console = stdout_console(wraps=True)
    if len(entries) > 1 or as_list:
        title = f"{len(entries)} conversations" if len(entries) != 1 else "1 conversation"
        rows = [entry["cells"] for entry in entries]
        with paged(console):
            show_tables(console, [{"title": title, "columns": listing["columns"], "rows": rows}], [])
            console.print(f"next: {_to_read(entries)}")
        return
    key = tuple(entries[0]["key"])
    page = views.view("page")(run.failures[key].last if key in run.failures else run.row(key))
    with paged(console):
        show_page(console, page)
        console.print(f"next: gym eval show {quoted(run.path)} --list for the others")


def _to_read(entries: Sequence[Mapping[str, Any]]) -> str:
    """What to do to read one of these entries."""
    if len(entries) == 1:
        names = [word for name in _NAMES if (value := entries[0]["names"].get(name)) for word in (f"--{name}", str(value))]
        return f"{printable(quoted(*names))} instead of --list shows it"
    telling = _telling(entries)
    return f"say which with {' and '.join(telling)}" if telling else "nothing tells these apart; their rows are in the file"


def _telling(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """The flags that tell these entries apart."""
    return [f"--{name}" for name in _NAMES if len({entry["names"].get(name) for entry in entries}) > 1]


def fitting(entries: Sequence[Mapping[str, Any]], wanted: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
    """The entries whose names are as wanted; upper and lower case are the same.

    Raises:
        UserError: There are none; the message says which name fits none of those that the names before it left, and what does.
    """
    for name, value in wanted.items():
        known = [str(entry["names"].get(name, "")) for entry in entries]
        entries = [entry for entry, one in zip(entries, known, strict=True) if one.casefold() == value.casefold()]
        if not entries:
            raise UserError(f"there is no such conversation: --{name} {value}", mend=suggestion(value, known))
    return entries
