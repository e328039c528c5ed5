# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of raters, raw and beyond chance."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask

from vera_mh.analysis.reliability import reliability
from vera_mh.statistics import Floats


def counts_of(*raters: str) -> Floats:
    """Counts of ratings that are one character each, a dot for a missing one; every unit is a cluster of its own."""
    values = sorted(set("".join(raters)) - {"."})
    return np.array([[[unit.count(value) for value in values]] for unit in zip(*raters, strict=True)], dtype=np.float64)


def alpha(*raters: str, ordinal: bool = False) -> float | None:
    return reliability(counts_of(*raters), ordinal=ordinal).alpha.value


@pytest.mark.parametrize(
    ("raters", "ordinal", "published"),
    [
        (("0100000010", "1110010000"), False, 0.095),
        (("aabbdcccedda", "babbbccceddd"), False, 0.692),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), False, 0.743),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), True, 0.815),
    ],
    ids=["binary, two observers", "nominal, two observers", "nominal, four with missing data", "ordinal, four with missing data"],
)
def test_alpha_has_the_published_value_in_worked_examples(raters, ordinal, published):
    """The examples A, B, C and D of Klaus Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011)."""
    assert alpha(*raters, ordinal=ordinal) == pytest.approx(published, abs=0.0005)


def test_alpha_of_a_case_that_can_be_reckoned_by_hand():
    """Two raters, four units: aa aa bb ab. Three of four agree; o_ab = 1, n_a = 5, n_b = 3, n = 8: 1 - 7 * 1 / (5 * 3) = 8/15."""
    found = reliability(counts_of("aaba", "aabb"))
    assert (found.raw.value, found.alpha.value) == (0.75, round(8 / 15, 4))
    assert (found.units, found.clusters) == (4, 4)


RATINGS = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.tuples(*[st.sampled_from("abcd.")] * raters), min_size=1, max_size=8)
)


@given(RATINGS)
def test_alpha_is_what_a_library_of_the_field_says(units):
    """NLTK's, which has the nominal form and wants at least two units and two values."""
    given_by = [(f"rater {rater}", number, value) for number, unit in enumerate(units) for rater, value in enumerate(unit)]
    rated = [(rater, unit, value) for rater, unit, value in given_by if value != "."]
    ours = alpha(*("".join(rater) for rater in zip(*units, strict=True)))
    paired = [unit for unit in units if len(unit) - unit.count(".") > 1]
    assume(ours is not None and len(paired) > 1)
    assert ours == pytest.approx(AnnotationTask(rated).alpha(), abs=1e-4)


@given(RATINGS)
def test_alpha_is_one_less_observed_by_expected_disagreement_over_all_pairs_of_ratings(units):
    pairable = ["".join(unit).replace(".", "") for unit in units]
    pairable = [unit for unit in pairable if len(unit) > 1]
    every = "".join(pairable)
    found = reliability(counts_of(*("".join(rater) for rater in zip(*units, strict=True))))
    if len(set(every)) < 2:
        assert found.alpha.value is None
        return
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in pairable) / len(every)
    expected = sum(a != b for a, b in permutations(every, 2)) / (len(every) * (len(every) - 1))
    assert found.alpha.value == pytest.approx(1 - observed / expected, abs=1e-4)
    agreed = [sum(a == b for a, b in permutations(unit, 2)) / (len(unit) * (len(unit) - 1)) for unit in pairable]
    assert found.raw.value == pytest.approx(sum(agreed) / len(agreed), abs=1e-4)


@given(st.lists(st.tuples(*[st.sampled_from("abc")] * 2), min_size=2, max_size=20))
def test_for_two_raters_alpha_is_scotts_pi_corrected_for_the_number_of_ratings(units):
    one, two = ("".join(rater) for rater in zip(*units, strict=True))
    shares = [(one + two).count(value) / (2 * len(units)) for value in "abc"]
    chance = sum(share**2 for share in shares)
    value = alpha(one, two)
    if value is None:
        assert chance == 1
        return
    pi = (sum(a == b for a, b in units) / len(units) - chance) / (1 - chance)
    assert value == pytest.approx(pi + (1 - pi) / (2 * len(units)), abs=1e-4)


@pytest.mark.parametrize("raters", [("aaaa", "aaaa"), ("a", "a"), ("aa.", "aab")])
def test_where_all_say_the_same_raw_agreement_is_whole_and_alpha_is_not_defined(raters):
    found = reliability(counts_of(*raters))
    assert found.raw.value == 1.0
    assert (found.alpha.value, found.alpha.low, found.alpha.high) == (None, None, None)
    assert "all ratings are the same" in (found.alpha.reason or "")


@pytest.mark.parametrize("raters", [("ab..", "..ab"), ("....", "...."), ("ab", "..")])
def test_where_no_two_have_rated_the_same_there_is_nothing_and_it_says_why(raters):
    found = reliability(counts_of(*raters))
    assert (found.units, found.clusters, found.raw.value, found.alpha.value) == (0, 0, None, None)
    assert "no two raters" in (found.alpha.reason or "")
    assert "no two raters" in (found.raw.reason or "")


def test_perfect_agreement_is_one_and_its_opposite_is_below_zero():
    assert alpha("abab", "abab") == 1.0
    opposite = alpha("abab", "baba")
    assert opposite is not None
    assert opposite < 0


def test_an_ordinal_alpha_forgives_a_near_miss_more_than_a_far_one():
    near, far = alpha("aabbccab", "aabbccbc", ordinal=True), alpha("aabbccac", "aabbccca", ordinal=True)
    assert near is not None
    assert far is not None
    assert near > far


MIXED = counts_of("abcaabbcabcabcaabbca", "abcabbbcabcaacaabbcc")


def test_an_interval_holds_the_value_and_is_the_same_for_the_same_seed():
    found = reliability(MIXED)
    for estimate in (found.raw, found.alpha):
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.value is not None
        assert estimate.low < estimate.value < estimate.high
    assert found == reliability(MIXED)
    assert found != reliability(MIXED, seed=1)


def test_units_of_one_conversation_stay_together_so_that_more_of_them_make_no_narrower_interval():
    """The same ratings five times over in each conversation tell no more than once."""
    once, often = reliability(MIXED), reliability(np.repeat(MIXED, 5, axis=1))
    assert (often.units, often.clusters) == (100, 20)
    assert (often.raw.low, often.raw.high) == (once.raw.low, once.raw.high)


def test_one_conversation_has_no_interval():
    found = reliability(counts_of("ab", "aa").reshape(1, 2, 2))
    assert (found.clusters, found.units) == (1, 2)
    assert found.alpha.value is not None
    assert (found.alpha.low, found.alpha.high, found.raw.low) == (None, None, None)


def test_draws_in_which_all_ratings_are_the_same_are_left_out_and_counted():
    found = reliability(counts_of("aaab", "aaab"), draws=500)
    assert 0 < found.alpha.undefined_draws < 500
    assert (found.alpha.value, found.alpha.low, found.alpha.high) == (1.0, 1.0, 1.0)
    assert found.raw.undefined_draws == 0
