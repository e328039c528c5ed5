# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page of two runs: the differences as they were found, and each pair."""

from __future__ import annotations

from typing import Any

from tests.support.pages import Page, content_of, example_rows
from tests.support.ratings import scored_row
from vera_mh.analysis.comparison import compare
from vera_mh.models import Json
from vera_mh.report import comparison_page
from vera_mh.views.comparison_tables import shown_comparison
from vera_mh.views.summary import CAVEAT


def rated(*letters: str) -> list[Json]:
    return [scored_row(each, persona=f"P{n}") | {"_ng_task_index": n} for n, each in enumerate(letters)]


def page_of(base: list[Json], other: list[Json], **more: Any) -> Page:
    contents = content_of(base, name="base.jsonl", **more), content_of(other, name="other.jsonl")
    return Page("".join(comparison_page(*contents, shown_comparison(compare(base, other)))))


def test_every_number_is_that_of_the_comparison():
    base, other = rated("BBB", "BSN", "HSB"), rated("BBH", "BBB", "SSS")
    differences = compare(base, other).differences
    shown = page_of(base, other).numbers
    assert shown == {name: differences[name] for name in shown}
    for place in ("", "/dimension/First", "/dimension/Third", "/user_simulator/sim"):
        assert {f"{side}{place}" for side in ("base", "other", "difference")} <= set(shown)
        assert {f"difference{place}/ci95_low", f"difference{place}/ci95_high", f"pairs_rated_in_both{place}"} <= set(shown)


def test_what_the_interval_says_stands_in_words():
    worse = page_of(rated(*["BBB"] * 6), rated(*["HHH"] * 6)).text
    assert "below 0, so the other run did worse on these conversations" in worse
    assert "above 0, so the other run did better" in page_of(rated(*["SSS"] * 6), rated(*["BBB"] * 6)).text
    assert "it holds 0, which leaves open which run is better" in page_of(rated("BBB", "SSS"), rated("BBB", "SSS")).text
    assert CAVEAT in worse


def test_it_is_counted_how_the_ratings_of_a_dimension_moved_where_both_runs_have_one():
    text = page_of(rated("BNB", "SNB", "NNB", "HNB"), rated("HNB", "BNB", "BNB", "HNB")).text
    assert "3 of 4 pairs rated in both: 1 better, 1 worse, 1 the same" in text


def test_a_single_pair_is_told_as_one():
    text = page_of(rated("BBB"), rated("HBB")).text
    assert "over 1 pair, 1 of them rated in both" in text
    assert "1 of 1 pair rated in both" in text
    assert "1 of 1 pair changed" in text
    assert "1 pairs" not in text


def test_who_changed_most_comes_first():
    page = page_of(rated("BBB", "BBB", "SSS"), rated("SSS", "HHH", "BBB"))
    assert page.text.index("P1 −100.00") < page.text.index("P0 −50.00") < page.text.index("P2 +50.00")
    assert "The own score of 3 of 3 pairs changed: 2 worse, 1 better." in page.text


def test_a_pair_is_the_same_conversation_of_both_runs_in_whatever_order_they_lie():
    base = example_rows()
    other = [row | {"_ng_task_index": 100 - row["_ng_task_index"]} for row in base][1:]
    page = page_of(base, other)
    pairs = page.views()
    assert len(pairs) == len(page.index["rows"]) == len(base) - 1
    assert all(pair["base"]["id"] == pair["other"]["id"] for pair in pairs)
    assert [pair["base"]["key"] for pair in pairs] == [row["key"] for row in page.index["rows"]]


def test_dimensions_that_the_runs_name_in_another_order_are_held_together():
    base = rated("BSH")
    other = [row | {"ratings": dict(reversed(row["ratings"].items()))} for row in rated("BSH")]
    (row,) = page_of(base, other).index["rows"]
    assert row["ratings"] == row["others"] == "BSH"


def test_a_run_that_is_not_complete_is_named():
    text = page_of(rated("BBB"), rated("BBB"), planned=3).text
    assert "INCOMPLETE. 2 planned conversations of base.jsonl have no score." in text
    assert "of other.jsonl have no score" not in text


def test_runs_that_changed_nothing_say_so():
    assert "The own score of no pair changed." in page_of(rated("BBB"), rated("BBB")).text
