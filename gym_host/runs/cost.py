# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run costs: added up row by row, by a meter that knows what rows tell of the calls behind them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from gym_host.jsonl import Json, pass_over_torn, read_lines
from gym_host.wording import printable

PRICES = "prices"
USAGE = "usage"
"""Keys of a run's record: prices by server, and what was used."""

_T = TypeVar("_T")

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


class SafeMeter:
    """Counts as another meter does, and lets go of it once it fails: what only tells the cost must not end what costs.

    Args:
        meter: The other one.
        warn: Is called with what went wrong, once; from then on nothing of the cost is known.
    """

    def __init__(self, meter: Meter, warn: Callable[[str], None]) -> None:
        self._meter: Meter | None = meter
        self._warn = warn

    def add(self, row: Json) -> None:
        self._ask(lambda meter: meter.add(row), None)

    def headline(self) -> str | None:
        return self._ask(lambda meter: meter.headline(), None)

    def summary(self) -> Json:
        return self._ask(lambda meter: meter.summary(), {"tables": [], "notes": ["What the run cost could not be counted."]})

    def to_json(self) -> list[Json]:
        return self._ask(lambda meter: meter.to_json(), [])

    def _ask(self, question: Callable[[Meter], _T], unknown: _T) -> _T:
        if self._meter is not None:
            try:
                return question(self._meter)
            except Exception as error:  # A meter is a component's own, and reads rows that hold whatever a provider said.
                self._meter = None
                why = printable(f"{type(error).__name__}: {error}")
                self._warn(f"the cost is not counted any more, since its meter failed: {why}")
        return unknown


def add_failures(meter: Meter, failures: Path) -> None:
    """Counts the failed attempts of a run: they cost as much as others."""
    for line in read_lines(failures, torn=pass_over_torn) if failures.exists() else ():
        meter.add(line.value)


def take_prices(record: Json, prices: Json) -> None:
    """Notes in a record what the servers cost, so that the money of a finished run can be told; a new price replaces an old."""
    if prices:
        record[PRICES] = {**record.get(PRICES, {}), **prices}
