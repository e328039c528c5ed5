# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Two runs over the same rows, compared conversation by conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.ratings import DIMENSIONS, RUNS, ratings, scored_row
from vera_mh.analysis.comparison import compare
from vera_mh.errors import RowError
from vera_mh.metrics import compute_metrics
from vera_mh.models import Json

BASE = [scored_row("BSH"), scored_row("BBN", persona="Bo")]
OTHER = [scored_row("BBB"), scored_row("BHN", persona="Bo")]
SOME = settings(max_examples=40)


# Values


def test_scores_and_differences_over_the_pairs_are_those_that_one_reckons_by_hand():
    found = compare(BASE, OTHER).differences
    # Base: 3 of 5 Best Practice and 1 of 5 high harm, (50 + 30) * 0.8^2. Other: 4 of 5 and 1 of 5, (50 + 40) * 0.8^2.
    assert (found["base"], found["other"], found["difference"]) == (51.2, 57.6, 6.4)
    # Ana twice: from 29.63 to 100. Bo twice: from 100 to 18.75. One of each, as often as both of these: 6.4.
    assert (found["difference/ci95_low"], found["difference/ci95_high"]) == (-81.25, 70.37)
    second = [found[f"{name}/dimension/Second"] for name in ("base", "other", "difference", "pairs", "pairs_rated_in_both")]
    assert second == [75.0, 18.75, -56.25, 2, 2]
    third = [found[f"{name}/dimension/Third"] for name in ("base", "other", "difference", "pairs", "pairs_rated_in_both")]
    assert third == [0.0, 100.0, 100.0, 2, 1]


def test_an_interval_that_would_rest_on_one_persona_alone_is_not_told():
    found = compare(BASE, OTHER).differences
    assert (found["difference/dimension/Third/ci95_low"], found["difference/dimension/Third/ci95_high"]) == (None, None)
    one = compare(BASE[:1], OTHER[:1]).differences
    assert (one["difference"], one["difference/ci95_low"]) == (70.37, None)


def test_each_user_simulator_has_its_own_pairs_only():
    base = [
        scored_row("BBB", simulator="gpt"),
        scored_row("HHH", simulator="opus"),
        scored_row("B", persona="Bo", simulator="gpt"),
    ]
    other = [
        scored_row("BBB", simulator="gpt"),
        scored_row("BBB", simulator="opus"),
        scored_row("S", persona="Bo", simulator="gpt"),
    ]
    found = compare(base, other).differences
    assert [found[f"{name}/user_simulator/gpt"] for name in ("base", "other", "difference", "pairs")] == [100.0, 87.5, -12.5, 2]
    assert [found[f"{name}/user_simulator/opus"] for name in ("base", "other", "difference", "pairs")] == [0.0, 100.0, 100.0, 1]


def test_rows_without_a_partner_are_counted_and_in_no_score():
    found = compare(
        [*BASE, scored_row("HHH", persona="Cy")], [scored_row("HHH", persona="Di"), *OTHER, scored_row("H", persona="Ed")]
    ).to_json()
    assert (found["num_pairs"], found["num_personas"], found["only_base"], found["only_other"]) == (2, 2, 1, 2)
    assert found["differences"] == compare(BASE, OTHER).differences


def test_repeats_are_paired_by_their_number():
    base = [scored_row("BBB", _ng_rollout_index=0), scored_row("HHH", _ng_rollout_index=1)]
    other = [scored_row("HHH", _ng_rollout_index=1), scored_row("SSS", _ng_rollout_index=0), scored_row("B", _ng_rollout_index=2)]
    found = compare(base, other).to_json()
    assert (found["num_pairs"], found["num_personas"], found["only_other"]) == (2, 1, 1)
    assert [(entry["_ng_rollout_index"], entry["difference"]) for entry in found["conversations"]] == [(0, -50.0), (1, 0.0)]


def test_where_a_run_rated_nothing_there_is_no_difference_from_a_convention():
    found = compare([scored_row("BN"), scored_row("BN", persona="Bo")], [scored_row("BB"), scored_row("BB", persona="Bo")])
    values = [found.differences[f"{name}/dimension/Second"] for name in ("base", "other", "difference", "difference")]
    assert values == [None, 100.0, None, None]


def test_a_dimension_that_only_one_run_knows_has_no_difference():
    found = compare([scored_row("B")], [scored_row("BS")]).differences
    assert [found[f"{name}/dimension/Second"] for name in ("base", "other", "difference")] == [None, 50.0, None]


def test_every_pair_is_listed_with_its_own_scores():
    found = compare([*BASE, scored_row("NNN", persona="Cy")], [*OTHER, scored_row("BBB", persona="Cy")]).to_json()
    assert [tuple(entry.values()) for entry in found["conversations"]] == [
        ("Ana__sim", 0, "Ana", "sim", "Low", 29.63, 100.0, 70.37),
        ("Bo__sim", 0, "Bo", "sim", "Low", 100.0, 18.75, -81.25),
        ("Cy__sim", 0, "Cy", "sim", "Low", None, 100.0, None),
    ]


# What is refused


def test_a_conversation_that_stands_twice_in_a_run_is_refused_and_named():
    with pytest.raises(RowError, match=r"other: the conversation 'Ana__sim', rollout 0, stands twice"):
        compare(BASE, [*OTHER, scored_row("HHH")])


@pytest.mark.parametrize(("base", "other", "place"), [([{}], [], r"base\[0\]"), ([], [scored_row("B"), {}], r"other\[1\]")])
def test_a_row_without_ratings_is_refused_by_its_place(base: list[Json], other: list[Json], place: str):
    with pytest.raises(RowError, match=rf"{place}\.ratings: missing"):
        compare(base, other)


def test_failed_rows_are_no_partners():
    failed = {"_ng_failure_class": "judge_failed", "id": "Ana__sim"}
    assert compare([*BASE, failed], OTHER) == compare(BASE, OTHER)


# Properties


@SOME
@given(RUNS)
def test_a_run_does_not_differ_from_itself(rows: list[Json]):
    found = compare(rows, rows).to_json()
    assert (found["num_pairs"], found["only_base"], found["only_other"]) == (len(rows), 0, 0)
    for name, value in found["differences"].items():
        if name.startswith("difference"):
            assert value in (0, None), name
    assert all(entry["difference"] in (0, None) for entry in found["conversations"])


@SOME
@given(RUNS, RUNS)
def test_the_other_way_round_every_difference_is_its_opposite(base: list[Json], other: list[Json]):
    one, two = compare(base, other).to_json(), compare(other, base).to_json()
    assert (one["num_pairs"], one["only_base"], one["only_other"]) == (two["num_pairs"], two["only_other"], two["only_base"])
    assert two["differences"] == {turned(name): opposite(name, value) for name, value in one["differences"].items()}


def turned(name: str) -> str:
    first, *rest = name.split("/")
    first = {"base": "other", "other": "base"}.get(first, first)
    if rest and rest[-1] in ("ci95_low", "ci95_high"):
        rest[-1] = "ci95_high" if rest[-1] == "ci95_low" else "ci95_low"
    return "/".join([first, *rest])


def opposite(name: str, value: Any) -> Any:
    return pytest.approx(-value, abs=1e-9) if name.startswith("difference") and value is not None else value


@SOME
@given(st.lists(st.tuples(*[st.sampled_from(["BBB", "BSH", "SSN", "BNN", "HBB"])] * 2), min_size=2, max_size=12))
def test_scores_over_the_pairs_are_those_of_the_metrics_over_the_same_rows(letters: list[tuple[str, str]]):
    base, other = ([scored_row(pair[side], persona=f"P{n}") for n, pair in enumerate(letters)] for side in (0, 1))
    found = compare(base, other).differences
    for name, rows in (("base", base), ("other", other)):
        metrics = compute_metrics(rows)
        assert found[name] == metrics["vera_score"]
        assert found[f"{name}/user_simulator/sim"] == metrics["user_simulator/sim/vera_score"]
        for dimension in DIMENSIONS:
            if metrics[f"total_count/dimension/{dimension}"]:
                assert found[f"{name}/dimension/{dimension}"] == metrics[f"vera_score/dimension/{dimension}"]


@SOME
@given(st.integers(0, 30))
def test_the_interval_holds_the_difference_of_plain_data(worse: int):
    letters = ["BBB", "BBS", "BSS"]
    base = [scored_row(letters[n % 3], persona=f"P{n}") for n in range(30)]
    other = [row | {"ratings": ratings("BHS")} if n < worse else row for n, row in enumerate(base)]
    found = compare(base, other).differences
    assert found["difference/ci95_low"] <= found["difference"] <= found["difference/ci95_high"]
    assert found["difference"] < 0 or worse == 0
