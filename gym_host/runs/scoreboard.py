# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a run: while it goes, and at its end. What they mean is the agent's business; here they are only asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gym_host.errors import ServerError
from gym_host.jsonl import Json
from gym_host.runs.scored import Scored
from gym_host.serving.calls import ServerCalls

_SHARE_OF_TIME = 0.02
"""The part of a run's time that may go into metrics which are only shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A metric that is shown while a run goes on, as its server names it.

    Attributes:
        metric: Its name among the key metrics.
        label: How it is called where it is shown.
        unit: What follows its value, such as `%`.
        over: The key metric that says how many it rests on; it is not shown as long as that is 0.
        counted: What these are.
    """

    metric: str
    label: str
    unit: str = ""
    over: str | None = None
    counted: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    """A metric's value, with its interval and its n if it has them."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    unit: str = ""
    over: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name} -"
        interval = f" ({self.low:.1f} to {self.high:.1f})" if self.low is not None and self.high is not None else ""
        return f"{self.name} {self.value:.2f}{self.unit}{interval}{self.over}"


def headlines(key_metrics: Any, shown: Sequence[Shown] = ()) -> list[Headline]:
    """What to show of key metrics while a run goes on.

    Args:
        key_metrics: The key metrics.
        shown: Which of them; by default the first. One that is no number is left out.
    """
    if not isinstance(key_metrics, Mapping) or not key_metrics:
        return []
    first = next(iter(key_metrics))
    found = (_headline(key_metrics, one) for one in shown or [Shown(first, first)])
    return [headline for headline in found if headline is not None]


def _headline(key_metrics: Mapping[str, Any], shown: Shown) -> Headline | None:
    name = shown.metric
    value, low, high = (key_metrics.get(key) for key in (name, f"{name}/ci95_low", f"{name}/ci95_high"))
    count = None if shown.over is None else key_metrics.get(shown.over)
    if not all(number is None or isinstance(number, int | float) for number in (value, low, high, count)):
        return None
    if count == 0:
        return Headline(shown.label, None)
    over = "" if count is None else f" over {count} {shown.counted}".rstrip()
    return Headline(shown.label, value, low, high, shown.unit, over)


@dataclass(frozen=True, slots=True)
class MetricFields:
    """What a server's metrics read of a row.

    Attributes:
        fields: The fields, dots for nesting; None if the server does not say, so that whole rows are kept.
        uniform: Fields that must be the same in all rows that are counted together.
        shown: What to show while a run goes on.
        compared: Fields that a comparison of two runs reads besides.
    """

    fields: list[str] | None = None
    uniform: tuple[str, ...] = ()
    shown: tuple[Shown, ...] = ()
    compared: tuple[str, ...] = ()


async def metric_fields(calls: ServerCalls, scorer: str) -> MetricFields:
    """Asks a server what its metrics read."""
    try:
        answer = await calls.call(scorer, "/aggregate_metrics")
    except ServerError:
        return MetricFields()
    if not isinstance(answer, dict) or not isinstance(answer.get("fields"), list):
        return MetricFields()
    uniform, named, compared = (answer.get(name) for name in ("uniform", "shown", "compared"))
    shown = [one for one in named if isinstance(one, dict)] if isinstance(named, list) else []
    return MetricFields(
        answer["fields"],
        tuple(uniform) if isinstance(uniform, list) else (),
        tuple(
            Shown(**{key: one[key] for key in Shown.__slots__ if key in one})
            for one in shown
            if {"metric", "label"} <= one.keys()
        ),
        tuple(compared) if isinstance(compared, list) else (),
    )


class Scoreboard:
    """Asks an agent for metrics over what is scored so far, seldom enough that it does not slow the run.

    Args:
        calls: Calls to the servers.
        agent: Name of the agent instance.
        scored: What is scored so far.
        shown: What to show of the key metrics; by default the first.
        clock: Seconds.
    """

    def __init__(
        self,
        calls: ServerCalls,
        agent: str,
        scored: Scored,
        shown: Sequence[Shown] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._calls, self._agent, self._scored, self._shown, self._clock = calls, agent, scored, shown, clock
        self._due, self._counted = 0.0, 0
        self.headlines: Sequence[Headline] = ()

    async def refresh(self) -> None:
        """Renews the headlines, if there is something new and it is due again."""
        started = self._clock()
        if started < self._due or self._counted == len(self._scored):
            return
        self._counted = len(self._scored)
        try:
            self.headlines = headlines((await self.aggregate())["key_metrics"], self._shown)
        except ServerError:
            self.headlines = ()
        ended = self._clock()
        self._due = ended + (ended - started) / _SHARE_OF_TIME

    async def aggregate(self) -> Json:
        """Metrics over everything scored: `agent_metrics`, `key_metrics` and `group_level_metrics`.

        Raises:
            ServerError: The agent gave no metrics.
        """
        answer = await self._calls.call(self._agent, "/aggregate_metrics", {"verify_responses": self._scored.rows()})
        if not isinstance(answer, dict) or "agent_metrics" not in answer:
            raise ServerError(self._agent, "/aggregate_metrics", None, "the answer has no metrics")
        return {"key_metrics": {}, "group_level_metrics": [], **answer}

    async def summary(self, metrics: Json) -> Json:
        """What a person is shown of metrics, as `tables` and `notes`: the agent's own, or its key metrics in one table.

        Args:
            metrics: As `aggregate` gives them.
        """
        with suppress(ServerError):
            own = await self._calls.call(self._agent, "/summary", {"agent_metrics": metrics["agent_metrics"]})
            if isinstance(own, dict) and isinstance(own.get("tables"), list):
                return own
        rows = [[name, "-" if value is None else str(value)] for name, value in metrics["key_metrics"].items()]
        return {"tables": [{"title": "Metrics", "columns": ["", ""], "rows": rows}], "notes": []}
