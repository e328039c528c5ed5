# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How many personas it takes to tell two chatbots apart, held against closed forms and a statistics library's answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vera_mh.analysis.power import (
    Spread,
    paired_spread,
    power_json,
    standard_errors_needed,
    unpaired_spread,
)
from vera_mh.score import Tally
from vera_mh.statistics import Interval, paired_interval, score_interval

# Per group, from `NormalIndPower().solve_power(effect_size, alpha=0.05, power=0.8)` of statsmodels 0.14, for two independent
# samples; with `ratio=0` for one sample, which is what paired differences are.
TWO_SAMPLES = {0.2: 392.4430232577885, 0.5: 62.79088416571135, 0.8: 24.527689095731237}
ONE_SAMPLE = {0.2: 196.2215127355966, 0.5: 31.395442038122635, 0.8: 12.263847027781763}


def test_a_difference_is_found_at_so_many_standard_errors_as_the_normal_quantiles_say():
    assert standard_errors_needed() == pytest.approx(1.959964 + 0.841621, abs=1e-6)
    assert standard_errors_needed(level=0.01, power=0.9) == pytest.approx(2.575829 + 1.281552, abs=1e-6)


@pytest.mark.parametrize("effect", ONE_SAMPLE)
def test_paired_sizes_are_those_of_a_statistics_library(effect: float):
    deviation, personas = 20.0, 50
    spread = paired_spread(Interval(0, 0, personas, deviation / math.sqrt(personas)), 100)
    assert spread is not None
    assert spread.personas_needed(effect * deviation) == math.ceil(ONE_SAMPLE[effect])
    assert spread.conversations_needed(effect * deviation) == 2 * math.ceil(ONE_SAMPLE[effect])


@pytest.mark.parametrize("effect", TWO_SAMPLES)
def test_unpaired_sizes_are_those_of_a_statistics_library(effect: float):
    deviation, personas = 20.0, 50
    spread = unpaired_spread(Interval(0, 0, personas, deviation / math.sqrt(personas)), 50)
    assert spread is not None
    assert spread.personas_needed(effect * deviation) == math.ceil(TWO_SAMPLES[effect])


def proportions(share: float, personas: int) -> dict[str, Tally]:
    """One rating a persona, Best Practice or Suboptimal: the score is then 50 + 50 times a proportion."""
    best = round(share * personas)
    return {f"P{n}": Tally(best_practice=n < best, neutral=n >= best) for n in range(personas)}


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("personas", [20, 100, 400])
def test_the_standard_error_of_a_score_that_is_a_proportion_is_the_one_of_a_proportion(share: float, personas: int):
    interval = score_interval(proportions(share, personas), draws=20_000)
    assert interval is not None
    # The unbiased closed form of a mean of zeros and ones.
    closed = 50 * math.sqrt(share * (1 - share) / (personas - 1))
    assert interval.standard_error == pytest.approx(closed, rel=0.03)


def test_the_personas_for_two_proportions_are_those_of_the_closed_form():
    share, personas, points = 0.5, 400, 10.0
    spread = unpaired_spread(score_interval(proportions(share, personas), draws=20_000), personas)
    assert spread is not None
    closed = standard_errors_needed() ** 2 * 2 * share * (1 - share) / (points / 50) ** 2
    assert spread.personas_needed(points) == pytest.approx(closed, rel=0.06)


def test_the_standard_error_of_a_paired_difference_is_that_of_the_differences():
    draw = np.random.default_rng(5)
    before, after = draw.random(200) < 0.4, draw.random(200) < 0.7
    pairs = {
        f"P{n}": (Tally(best_practice=int(one), neutral=int(not one)), Tally(best_practice=int(two), neutral=int(not two)))
        for n, (one, two) in enumerate(zip(before, after, strict=True))
    }
    interval = paired_interval(pairs, draws=20_000)
    assert interval is not None
    differences = 50 * (after.astype(float) - before)
    assert interval.standard_error == pytest.approx(differences.std(ddof=1) / math.sqrt(200), rel=0.03)


def test_what_so_many_personas_detect_takes_just_so_many_personas():
    spread = Spread(standard_error=3.0, personas=100, conversations=200)
    assert spread.personas_needed(spread.detectable()) == 100
    assert spread.detectable(400) == pytest.approx(spread.detectable() / 2)
    assert spread.personas_needed(-5.0) == spread.personas_needed(5.0)
    assert spread.conversations_needed(5.0) == 2 * spread.personas_needed(5.0)


def test_fewer_than_two_personas_are_never_enough():
    assert Spread(standard_error=0.1, personas=50, conversations=50).personas_needed(90.0) == 2


@pytest.mark.parametrize("interval", [None, Interval(50.0, 50.0, 8, 0.0)])
def test_without_an_interval_or_without_any_variation_nothing_is_told(interval: Interval | None):
    for spread in (paired_spread(interval, 8), unpaired_spread(interval, 8)):
        assert spread is None
        assert power_json(spread, [5.0]) is None


def test_a_program_is_told_the_personas_for_each_difference_and_none_for_no_difference():
    spread = Spread(standard_error=3.0, personas=100, conversations=200)
    assert power_json(spread, [5.0, 0.0]) == {
        "level": 0.05,
        "power": 0.8,
        "standard_error": 3.0,
        "personas": 100,
        "detectable_difference": 8.4,
        "personas_needed": {"5": 283},
    }
