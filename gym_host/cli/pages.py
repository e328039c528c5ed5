# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Long texts at a terminal: one page of one rollout, and a pager where a person reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from gym_host.cli.output import show_tables
from gym_host.wording import harmless

_STYLES = {"first": "bold cyan", "second": "bold green", "third": "bold magenta"}
"""How the voices of a page look; who they are, the heads of its entries say."""
_LESS = "FRX"
"""What `less` is told unless the user tells it something: no paging of what fits, colours as they are, no clearing."""


@contextmanager
def paged(console: Console) -> Iterator[None]:
    """Shows what is printed within through the user's pager (PAGER, else `less`); elsewhere than at a terminal as it is."""
    if not (sys.stdin.isatty() and console.is_terminal):
        yield
        return
    os.environ.setdefault("LESS", _LESS)
    with console.pager(styles="less" in os.environ.get("PAGER", "less") and "R" in os.environ["LESS"]):
        yield


def show_page(console: Console, page: Mapping[str, Any]) -> None:
    """Prints a page: `title`, `facts`, `tables` and `sections`, as a resources server's view gives it."""
    console.print(Text(harmless(page["title"]), style="bold"))
    facts = [(harmless(name), harmless(value)) for name, value in page["facts"]]
    width = max((len(name) for name, _ in facts), default=0)
    for name, value in facts:
        console.print(Text(f"{name:<{width}}  {value}"))
    console.print()
    show_tables(console, page["tables"], [])
    for section in page["sections"]:
        console.rule(Text(harmless(section["title"])), align="left", characters="-")
        for entry in section["entries"]:
            console.print(Text(harmless(entry["head"]), style=_STYLES.get(entry["voice"], "bold")))
            console.print(Padding(Text(harmless(entry["text"])), (0, 0, 1, 2)))
