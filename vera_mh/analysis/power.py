# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How many personas it takes to tell two chatbots apart: sample sizes from the standard error that a finished run has.

The sizes are those of a two-sided z-test at 5% with 80% power: a true difference is found if it is 2.80 standard errors (1.96
for the test, 0.84 for the power) from zero. The standard error of `n` personas is that of the run, scaled by `sqrt(1 / n)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from vera_mh.models import Json
from vera_mh.statistics import Interval

LEVEL = 0.05
POWER = 0.80
DIFFERENCES = (2.0, 5.0, 10.0)
"""Differences in score points for which a table tells how many personas they take."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How uncertain the difference of two scores is.

    Attributes:
        standard_error: Of the difference, in score points.
        personas: Personas that it rests on.
        conversations: Conversations of one run that it rests on.
    """

    standard_error: float
    personas: int
    conversations: int

    def detectable(self, personas: int | None = None) -> float:
        """The smallest true difference, in score points, that a number of personas tells apart.

        Args:
            personas: How many; by default as many as there are.
        """
        return standard_errors_needed() * self.standard_error * math.sqrt(self.personas / (personas or self.personas))

    def personas_needed(self, difference: float) -> int:
        """Personas that it takes to tell a true difference apart, at the least two.

        Args:
            difference: In score points; not 0.
        """
        scale: float = standard_errors_needed() * self.standard_error / abs(difference)
        # What is left of a whole number by rounding is no persona.
        return max(2, math.ceil(round(self.personas * scale**2, 9)))

    def conversations_needed(self, difference: float) -> int:
        """Conversations of each run that it takes to tell a true difference apart, a persona having as many as now.

        Args:
            difference: In score points; not 0.
        """
        return math.ceil(self.personas_needed(difference) * self.conversations / self.personas)


def standard_errors_needed(level: float = LEVEL, power: float = POWER) -> float:
    """How many standard errors a true difference must be from zero to be found.

    Args:
        level: Two-sided level of the test, 0 to 1.
        power: Probability that the difference is found, 0 to 1.
    """
    normal = NormalDist()
    return normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)


def paired_spread(interval: Interval | None, conversations: int) -> Spread | None:
    """The spread of a comparison over the same personas; None where there is no interval, or no variation in it.

    Args:
        interval: The interval of the paired difference of two scores.
        conversations: Conversations of one run that it rests on.
    """
    if interval is None or interval.standard_error == 0:
        return None
    return Spread(interval.standard_error, interval.clusters, conversations)


def unpaired_spread(interval: Interval | None, conversations: int) -> Spread | None:
    """The spread of the difference between a run and another of its kind, were the two unrelated.

    Two runs over the same personas are usually related (what is hard for one is hard for the other), so this is cautious. None
    where there is no interval, or no variation in it.

    Args:
        interval: The interval of the run's score.
        conversations: Conversations of the run.
    """
    if interval is None or interval.standard_error == 0:
        return None
    return Spread(math.sqrt(2) * interval.standard_error, interval.clusters, conversations)


def power_json(spread: Spread | None, differences: Sequence[float]) -> Json | None:
    """The sample sizes for a program; None without a spread.

    Args:
        spread: How uncertain the difference of two scores is.
        differences: True differences in score points; a difference of 0 is left out.

    Returns:
        `level` and `power` of the test, `standard_error` and `detectable_difference` in score points, `personas` that there are,
        and `personas_needed` (difference -> personas).
    """
    if spread is None:
        return None
    needed = {f"{abs(difference):g}": spread.personas_needed(difference) for difference in differences if difference}
    return {
        "level": LEVEL,
        "power": POWER,
        "standard_error": round(spread.standard_error, 4),
        "personas": spread.personas,
        "detectable_difference": round(spread.detectable(), 2),
        "personas_needed": needed,
    }
