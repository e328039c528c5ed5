# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gym_host.jsonl import Json


@dataclass(frozen=True, slots=True)
class Result:
    """What a run has come to, whether it has just ended or is only looked at.

    Attributes:
        planned: Rollouts of the run.
        scored: Rollouts that are scored, earlier ones included.
        failures: Failure class -> rollouts without a score that failed so last.
        given_up: Rollouts without a score that are out of attempts.
        left_out: Rollouts without a score that were not to be attempted.
        measure: Fields that say what the rows were rated by, such as a pack's hash -> their values; one each, if all is well.
        summary: Tables and notes on the scores (`tables`, `notes`), or None.
        cost: Tables and notes of what it cost, or None.
        counted: False if nothing tells how many rollouts were planned; `planned` are then those that left something.
        refusing: Servers that refused calls of this start and answered none -> what is to be said of each.
    """

    planned: int
    scored: int
    failures: Counter[str]
    given_up: int = 0
    left_out: int = 0
    measure: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    summary: Json | None = None
    cost: Json | None = None
    counted: bool = True
    refusing: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return self.scored == self.planned

    @property
    def mixed(self) -> Mapping[str, Sequence[Any]]:
        """What should be the same in all rows and is not."""
        return {name: values for name, values in self.measure.items() if len(values) > 1}


@dataclass(frozen=True, slots=True)
class Outcome(Result):
    """How an evaluation ended, and what came of it.

    Attributes:
        interrupted: True if it was stopped by a signal.
        metrics: The scorer's answer to `/aggregate_metrics`, or None.
    """

    interrupted: bool = False
    metrics: Json | None = None
