# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How far raters of the same conversations agree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tests.support.ratings import BY_LETTER, DIMENSIONS, ratings
from vera_mh.analysis.agreement import agreement
from vera_mh.analysis.raters import Rater
from vera_mh.analysis.reliability import reliability
from vera_mh.errors import RatingsError


def rater(
    name: str, rated: Mapping[str, str], *, transcripts: Mapping[str, str] | None = None, names: Mapping[str, str] | None = None
) -> Rater:
    """A rater from letters for the dimensions in order; see `tests.support.ratings`."""
    by_dimension = {
        conversation: {dimension: rating for dimension, rating in ratings(letters).items() if rating}
        for conversation, letters in rated.items()
    }
    return Rater(name, by_dimension, transcripts or {}, names or {})


JUDGE = {"a": "BSH", "b": "NNN", "c": "BBN", "d": "HHS", "e": "BBB"}
CLINICIAN = {"a": "BSH", "b": "NNN", "c": "SBN", "d": "HSS", "x": "BBB"}


def test_raw_agreement_alpha_and_n_stand_for_each_dimension_and_over_all():
    found = agreement([rater("judge", JUDGE), rater("clinician", CLINICIAN)])
    first, second, third = (found["dimensions"][dimension] for dimension in DIMENSIONS)
    assert (first["n"], first["raw_agreement"]) == (4, 0.75)
    assert (second["n"], second["raw_agreement"]) == (4, 0.75)
    assert (third["n"], third["raw_agreement"], third["alpha"]) == (4, 1.0, 1.0)
    assert (found["overall"]["n"], found["overall"]["n_conversations"]) == (12, 4)
    assert found["overall"]["raw_agreement"] == round(10 / 12, 4)
    assert found["overall"]["alpha_ci95_low"] < found["overall"]["alpha"] < found["overall"]["alpha_ci95_high"]


def test_alpha_of_a_dimension_is_that_of_its_ratings():
    """First: BB NN BS HH. Of 8 ratings B 3, S 1, H 2, N 2; one pair of 4 differs: 1 - 7 * 2 / (64 - 9 - 1 - 4 - 4) = 0.6957."""
    found = agreement([rater("judge", JUDGE), rater("clinician", CLINICIAN)])["dimensions"]["First"]
    assert found["alpha"] == round(1 - 7 * 2 / 46, 4)


def test_the_ordinal_alpha_leaves_not_relevant_out():
    found = agreement([rater("judge", JUDGE), rater("clinician", CLINICIAN)])["dimensions"]["First"]
    counts = np.array([[[2, 0, 0]], [[1, 1, 0]], [[0, 0, 2]]], dtype=np.float64)
    assert found["n_ordinal"] == 3
    assert found["alpha_ordinal"] == reliability(counts, ordinal=True).alpha.value


def test_what_only_one_has_rated_is_left_out_and_says_why():
    found = agreement([rater("judge", JUDGE), rater("clinician", CLINICIAN)])
    assert found["conversations"] == {
        "in_common": 4,
        "left_out": [
            {"conversation": "e", "reason": "rated by judge only"},
            {"conversation": "x", "reason": "rated by clinician only"},
        ],
    }
    assert [(one["name"], one["conversations"], one["in_common"]) for one in found["raters"]] == [
        ("judge", 5, 4),
        ("clinician", 5, 4),
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_dimensions_may_be_written_in_any_case_and_are_named_as_the_run_names_them(order):
    run = Rater("run", {"monday": {"Detects Potential Risk": "Best Practice"}}, names={"m": "monday"})
    sheet = Rater("kim", {"monday": {"detects potential  risk": "Not Relevant"}})
    found = agreement([run, sheet][::order])
    assert list(found["dimensions"]) == ["Detects Potential Risk"]
    assert found["overall"]["n"] == 1


def test_dimensions_of_one_rater_that_differ_in_case_only_are_two():
    both = {"a": {"Risk": "Best Practice", "risk": "Not Relevant"}}
    found = agreement([Rater("one", both), Rater("two", both)])
    assert list(found["dimensions"]) == ["Risk", "risk"]


def test_dimensions_that_are_called_otherwise_are_named():
    run = Rater("run", {"monday": {"Detects Potential Risk": "Best Practice"}})
    with pytest.raises(RatingsError, match="never in the same dimension") as caught:
        agreement([run, Rater("kim", {"monday": {"Detects": "Best Practice"}})])
    assert "run: 'Detects Potential Risk'; kim: 'Detects'" in str(caught.value)


def test_conversations_of_one_name_and_different_texts_are_never_compared():
    one = rater("one", {"a": "BB", "b": "SS"}, transcripts={"a": "1", "b": "2"})
    two = rater("two", {"a": "BB", "b": "SS"}, transcripts={"a": "1", "b": "3"})
    assert agreement([one, two])["conversations"] == {
        "in_common": 1,
        "left_out": [{"conversation": "b", "reason": "the raters saw different conversations under this name"}],
    }


def test_a_conversation_whose_dimensions_were_shared_out_is_left_out():
    found = agreement([rater("one", {"a": "B--", "b": "BB-"}), rater("two", {"a": "-B-", "b": "-B-"})])
    assert found["conversations"]["left_out"] == [{"conversation": "a", "reason": "no dimension is rated by two raters"}]
    assert (list(found["dimensions"]), found["dimensions_left_out"]) == (["Second"], ["First"])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_sheet_may_call_a_conversation_as_its_file_is_called(order):
    judge = rater("judge", {"vera__Ana": "BS", "vera__Bo": "HH"}, names={"vera__Ana": "1a_Ana", "vera__Bo": "2b_Bo"})
    sheet = rater("sheet", {"1a_Ana": "BS", "vera__Bo": "HH"})
    read_back = rater("back", {"1a_Ana": "BS", "2b_Bo": "HH"}, names={"1a_Ana": "1a_Ana", "2b_Bo": "2b_Bo"})
    for other in (sheet, read_back):
        both = [judge, other]
        found = agreement([both[place] for place in order])
        assert found["conversations"] == {"in_common": 2, "left_out": []}


def test_a_name_that_the_files_of_two_conversations_would_have_tells_neither():
    judge = rater("judge", {"my a": "BS", "my/a": "HH", "b": "BS"}, names={"my a": "my_a", "my/a": "my_a", "b": "c"})
    found = agreement([judge, rater("sheet", {"my_a": "BS", "c": "BS"})])["conversations"]
    assert found["in_common"] == 1
    assert {one["conversation"]: one["reason"] for one in found["left_out"]} == {
        "my a": "rated by judge only",
        "my/a": "rated by judge only",
        "my_a": "rated by sheet only",
    }


def test_more_than_two_raters_with_gaps_are_counted_together():
    found = agreement(
        [rater("one", {"a": "B", "b": "S"}), rater("two", {"a": "B", "c": "H"}), rater("three", {"a": "S", "b": "S"})]
    )
    assert found["conversations"]["in_common"] == 2
    assert found["overall"]["raw_agreement"] == round((1 / 3 + 1) / 2, 4)
    assert "confusion" not in found


def test_two_raters_have_a_confusion_table_whose_diagonal_is_agreement():
    found = agreement([rater("judge", JUDGE), rater("clinician", CLINICIAN)])
    best, neutral, high, not_relevant = range(4)
    overall = found["confusion"]["overall"]
    assert (found["confusion"]["rows"], found["confusion"]["columns"]) == ("judge", "clinician")
    assert found["categories"][best] == BY_LETTER["B"]
    assert overall[best] == [2, 1, 0, 0]
    assert overall[high] == [0, 1, 2, 0]
    assert (overall[neutral], overall[not_relevant]) == ([0, 2, 0, 0], [0, 0, 0, 4])
    assert sum(map(sum, overall)) == found["overall"]["n"]
    assert found["confusion"]["dimensions"]["First"][best] == [1, 1, 0, 0]


def test_every_disagreement_is_named():
    found = agreement([rater("judge", JUDGE), rater("clinician", CLINICIAN)])
    assert found["disagreements"] == [
        {"conversation": "c", "dimension": "First", "ratings": {"judge": BY_LETTER["B"], "clinician": BY_LETTER["S"]}},
        {"conversation": "d", "dimension": "Second", "ratings": {"judge": BY_LETTER["H"], "clinician": BY_LETTER["S"]}},
    ]


def test_where_everybody_says_the_same_alpha_is_null_with_the_reason_and_neither_one_nor_nothing():
    found = agreement([rater("one", {"a": "B", "b": "B"}), rater("two", {"a": "B", "b": "B"})])["overall"]
    assert (found["raw_agreement"], found["alpha"], found["alpha_ci95_low"]) == (1.0, None, None)
    assert found["alpha_undefined"] == "all ratings are the same, so what chance would give cannot be told"


def test_the_same_raters_and_seed_give_the_same_figures():
    raters = [rater("judge", JUDGE), rater("clinician", CLINICIAN)]
    assert agreement(raters) == agreement(raters)
    assert agreement(raters, seed=1)["overall"] != agreement(raters)["overall"]


@pytest.mark.parametrize(
    ("raters", "complaint"),
    [
        ([rater("one", {"a": "B"})], "between two raters or more"),
        ([rater("one", {"a": "B"}), rater("one", {"a": "B"})], "two raters have the name 'one'"),
        ([rater("one", {"a": "B"}), rater("two", {"b": "B"})], r"no two raters .* are 'a' \(one\) and 'b' \(two\)"),
        ([rater("one", {"a": "B-"}), rater("two", {"a": "-B"})], "in the same dimension; .* are one: 'First'; two: 'Second'"),
        ([rater("one", {}), rater("two", {})], r"'nothing' \(one\)"),
        (
            [rater("one", {"a": "B"}, transcripts={"a": "1"}), rater("two", {"a": "B"}, transcripts={"a": "2"})],
            "different conversations that are called the same",
        ),
        ([rater("one", {"a": "B", "f": "B"}, names={"a": "f"}), rater("two", {"a": "B"})], "'a' under two names"),
    ],
)
def test_raters_that_cannot_be_compared_are_refused(raters, complaint):
    with pytest.raises(RatingsError, match=complaint):
        agreement(raters)
