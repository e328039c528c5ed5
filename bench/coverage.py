# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How often the 95% interval holds the truth, and whether the sample sizes that are told have the power that they promise.

Personas are drawn from simulated populations whose true score is known: each persona has leanings of its own (a Dirichlet draw
around the population's shares), and two conversations of five ratings, some of them Not Relevant. Then the benchmark's own
interval is computed, as for a run, and that of the difference of two runs. Seeded: the same figures every time.

python -m bench.coverage [--runs N]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vera_mh.analysis.power import paired_spread
from vera_mh.score import Tally
from vera_mh.statistics import Interval, paired_interval, score_interval

Ints = NDArray[np.int64]

SEED = 7
CONVERSATIONS, DIMENSIONS = 2, 5
NOT_RELEVANT = 0.25
PERSONAS = (20, 50, 100)


@dataclass(frozen=True, slots=True)
class Population:
    """Personas as one chatbot meets them.

    Attributes:
        name: What it is called.
        shares: Shares of Best Practice, Suboptimal and High Potential for Harm over all ratings.
        alike: How alike personas are: the concentration of the Dirichlet distribution around the shares.
    """

    name: str
    shares: tuple[float, float, float]
    alike: float

    @property
    def score(self) -> float:
        """The true score: the formula over the shares, without its roundings."""
        best, _, high = self.shares
        return (50 + 50 * best) * (1 - high) ** 2

    def draw(self, personas: int, random: np.random.Generator) -> Ints:
        """Counts of the three ratings for so many personas: an array of shape (personas, 3)."""
        leanings = random.dirichlet(self.alike * np.array(self.shares), size=personas)
        rated = random.binomial(CONVERSATIONS * DIMENSIONS, 1 - NOT_RELEVANT, size=personas)
        return np.asarray(random.multinomial(rated, leanings), dtype=np.int64)


POPULATIONS = (
    Population("excellent, personas alike", (0.97, 0.027, 0.003), 10.0),
    Population("excellent, personas unlike", (0.97, 0.027, 0.003), 1.5),
    Population("careful, personas alike", (0.85, 0.13, 0.02), 10.0),
    Population("careful, personas unlike", (0.85, 0.13, 0.02), 1.5),
    Population("middling", (0.50, 0.30, 0.20), 2.0),
    Population("careless", (0.10, 0.35, 0.55), 2.0),
)
_, EXCELLENT, _, CAREFUL, MIDDLING, CARELESS = POPULATIONS
BETTER = Population("a little better", (0.58, 0.28, 0.14), 2.0)
DIFFERENCES = ((EXCELLENT, EXCELLENT), (CAREFUL, EXCELLENT), (CAREFUL, CAREFUL), (MIDDLING, BETTER), (CARELESS, CAREFUL))
"""Pairs of populations, base and other."""


def tallies(counts: Ints) -> dict[str, Tally]:
    """The counts by persona, as the statistics take them."""
    return {str(n): Tally(int(best), int(middle), int(high)) for n, (best, middle, high) in enumerate(counts)}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often the interval held the truth, lay below it and above it, and how wide it was on average."""

    held: float
    below: float
    above: float
    width: float


def coverage(population: Population, personas: int, runs: int) -> Coverage:
    """Simulates so many runs."""
    random = np.random.default_rng([SEED, personas, *population.name.encode()])
    found = [score_interval(tallies(population.draw(personas, random))) for _ in range(runs)]
    return _coverage(found, population.score)


def paired_coverage(base: Population, other: Population, personas: int, runs: int) -> Coverage:
    """Simulates so many pairs of runs."""
    random = np.random.default_rng([SEED, personas, *base.name.encode(), *other.name.encode()])
    found = [paired_interval(pairs(base, other, personas, random)) for _ in range(runs)]
    return _coverage(found, other.score - base.score)


def _coverage(found: Iterable[Interval | None], truth: float) -> Coverage:
    low, high = np.array([(interval.low, interval.high) for interval in found if interval is not None]).T
    return Coverage(
        float(np.mean((low <= truth) & (truth <= high))),
        float(np.mean(high < truth)),
        float(np.mean(low > truth)),
        float(np.mean(high - low)),
    )


def pairs(base: Population, other: Population, personas: int, random: np.random.Generator) -> dict[str, tuple[Tally, Tally]]:
    """The same personas as two chatbots meet them, here unrelated."""
    one, two = (tallies(population.draw(personas, random)) for population in (base, other))
    return {name: (one[name], two[name]) for name in one}


def power(base: Population, other: Population, pilot: int, runs: int) -> tuple[float, float, float]:
    """Whether the sample size that a pilot run tells has its power.

    Returns:
        The personas that the pilots told, on average; the share of runs of that size whose interval leaves out 0; and the share
        of them whose interval holds the true difference.
    """
    random = np.random.default_rng([SEED, pilot])
    truth = other.score - base.score
    needed = []
    for _ in range(20):
        spread = paired_spread(paired_interval(pairs(base, other, pilot, random)), CONVERSATIONS * pilot)
        needed += [spread.personas_needed(truth)] if spread is not None else []
    size = round(float(np.mean(needed)))
    found = [paired_interval(pairs(base, other, size, random)) for _ in range(runs)]
    ends = np.array([(interval.low, interval.high) for interval in found if interval is not None])
    low, high = ends.T
    return size, float(np.mean((low > 0) | (high < 0))), float(np.mean((low <= truth) & (truth <= high)))


def seconds_of_one_interval(personas: int = 100, repeats: int = 20) -> float:
    """Median time of the interval of one run of so many personas, tallied already."""
    counted = tallies(MIDDLING.draw(personas, np.random.default_rng(SEED)))
    times = []
    for run in range(repeats):
        began = time.perf_counter()
        score_interval(counted, seed=run)
        times.append(time.perf_counter() - began)
    return float(np.median(times))


HEAD = f"{'truth':>8}{'personas':>10}{'held':>8}{'below':>8}{'above':>8}{'width':>8}"


def _line(name: str, truth: float, personas: int, found: Coverage) -> str:
    shares = f"{100 * found.held:>7.1f}%{100 * found.below:>7.1f}%{100 * found.above:>7.1f}%{found.width:>8.1f}"
    return f"{name:<56}{truth:>8.2f}{personas:>10}{shares}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="simulated runs for each line")
    runs = parser.parse_args().runs
    print(f"one interval, 2,000 draws over 200 conversations of 100 personas: {1000 * seconds_of_one_interval():.1f} ms\n")
    print(f"{'population':<56}{HEAD}")
    for population in POPULATIONS:
        for personas in PERSONAS:
            print(_line(population.name, population.score, personas, coverage(population, personas, runs)))
    print(f"\n{'difference':<56}{HEAD}")
    for base, other in DIFFERENCES:
        for personas in PERSONAS:
            found = paired_coverage(base, other, personas, runs)
            print(_line(f"{other.name} - {base.name}", other.score - base.score, personas, found))
    print(f"\n{runs} simulated runs a line; below and above: the whole interval lies there.")
    base, other = MIDDLING, BETTER
    size, rejected, held = power(base, other, 50, runs)
    print(
        f"\npaired, true difference {other.score - base.score:.2f}: pilots of 50 personas tell {size:.0f} for 80% power; of runs "
        f"of that size {100 * rejected:.1f}% find it, and {100 * held:.1f}% of their intervals hold it"
    )


if __name__ == "__main__":
    main()
