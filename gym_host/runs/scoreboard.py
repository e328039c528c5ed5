# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a run: while it goes, and at its end. What they mean is the agent's business; here they are only asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gym_host.errors import ServerError
from gym_host.jsonl import Json
from gym_host.runs.run_files import Scored
from gym_host.serving.calls import ServerCalls

_SHARE_OF_TIME = 0.02
"""The part of a run's time that may go into metrics which are only shown."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The first of the key metrics, with its interval if it has one."""

    name: str
    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name} -"
        interval = f" ({self.low:.1f} to {self.high:.1f})" if self.low is not None and self.high is not None else ""
        return f"{self.name} {self.value:.2f}{interval}"


def headline(key_metrics: Any) -> Headline | None:
    """The headline of key metrics, or None if there are none or the first is no number."""
    name = next(iter(key_metrics), None) if isinstance(key_metrics, Mapping) else None
    if name is None:
        return None
    value, low, high = (key_metrics.get(key) for key in (name, f"{name}/ci95_low", f"{name}/ci95_high"))
    if not all(number is None or isinstance(number, int | float) for number in (value, low, high)):
        return None
    return Headline(name, value, low, high)


@dataclass(frozen=True, slots=True)
class MetricFields:
    """What a server's metrics read of a row.

    Attributes:
        fields: The fields, dots for nesting; None if the server does not say, so that whole rows are kept.
        uniform: Fields that must be the same in all rows that are counted together.
    """

    fields: list[str] | None = None
    uniform: tuple[str, ...] = ()


async def metric_fields(calls: ServerCalls, scorer: str) -> MetricFields:
    """Asks a server what its metrics read."""
    try:
        answer = await calls.call(scorer, "/aggregate_metrics")
    except ServerError:
        return MetricFields()
    if not isinstance(answer, dict) or not isinstance(answer.get("fields"), list):
        return MetricFields()
    uniform = answer.get("uniform")
    return MetricFields(answer["fields"], tuple(uniform) if isinstance(uniform, list) else ())


class Scoreboard:
    """Asks an agent for metrics over what is scored so far, seldom enough that it does not slow the run.

    Args:
        calls: Calls to the servers.
        agent: Name of the agent instance.
        scored: What is scored so far.
        clock: Seconds.
    """

    def __init__(self, calls: ServerCalls, agent: str, scored: Scored, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls, self._agent, self._scored, self._clock = calls, agent, scored, clock
        self._due, self._counted = 0.0, 0
        self.headline: Headline | None = None

    async def refresh(self) -> None:
        """Renews the headline, if there is something new and it is due again."""
        started = self._clock()
        if started < self._due or self._counted == len(self._scored):
            return
        self._counted = len(self._scored)
        try:
            self.headline = headline((await self.aggregate())["key_metrics"])
        except ServerError:
            self.headline = None
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

    async def summary(self, agent_metrics: Json) -> Any:
        """The agent's own tables for metrics; None if it has none."""
        try:
            return await self._calls.call(self._agent, "/summary", {"agent_metrics": agent_metrics})
        except ServerError:
            return None
