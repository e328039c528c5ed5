# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run costs: added up row by row, by a meter that knows what rows tell of the calls behind them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from gym_host.jsonl import Json, read_lines

PRICES = "prices"
USAGE = "usage"
"""Keys of a run's record: prices by server, and what was used."""

METER = "meter"
"""The view of a resources server that makes the meter of a run from its record."""


class Meter(Protocol):
    """Adds up what rows tell of the calls behind them."""

    def add(self, row: Json, /) -> None:
        """Counts a scored row or a failed attempt."""
        ...

    def headline(self) -> str | None:
        """The cost so far in a few words; None before there is any."""
        ...

    def summary(self) -> Json:
        """`tables` and `notes` for a person."""
        ...

    def to_json(self) -> list[Json]:
        """The same for a program."""
        ...


MakeMeter = Callable[[Json], Meter]
"""An empty meter for the rows of a run, from its record."""


def add_failures(meter: Meter, failures: Path) -> None:
    """Counts the failed attempts of a run: they cost as much as others."""
    for line in read_lines(failures) if failures.exists() else ():
        meter.add(line.value)


def take_prices(record: Json, prices: Json) -> None:
    """Notes in a record what the servers cost, so that the money of a finished run can be told; a new price replaces an old."""
    if prices:
        record[PRICES] = {**record.get(PRICES, {}), **prices}
