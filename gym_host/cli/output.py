# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is printed, and where: lines, tables, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table

from gym_host.errors import UserError
from gym_host.wording import harmless

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


def stdout_console(*, wraps: bool = False) -> Console:
    """Where results go.

    Args:
        wraps: Break long lines between words, as prose wants it; otherwise each stays one line, as other programs want it.
    """
    console = _Reader(markup=False, emoji=False, highlight=False, soft_wrap=not wraps)
    if not console.is_terminal:
        console.width = _WIDTH
    return console


def say_next(what: str) -> None:
    """Prints the last line of a command: what to do next."""
    print(f"next: {what}", flush=True)


def show_tables(console: Console, tables: Iterable[Mapping[str, Any]], notes: Iterable[str]) -> None:
    """Prints tables (`title`, `columns`, `rows`, and `prose` where they hold sentences), then sentences.

    Names and reasons in them may be a model's or a stranger's, so nothing in them reaches the terminal but text.
    """
    for table in tables:
        _print_table(console, _table(table))
        console.print()
    for note in notes:
        console.print(harmless(note))


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
