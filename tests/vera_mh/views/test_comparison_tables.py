# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Two runs compared, as a person reads it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gym_host.runs.fields import project
from tests.support.ratings import RUNS, scored_row
from vera_mh.analysis.comparison import compare
from vera_mh.metrics import ROW_FIELDS
from vera_mh.models import Json
from vera_mh.views.comparison_tables import SHOWN_CONVERSATIONS, shown_comparison
from vera_mh.views.summary import CAVEAT

BASE = [scored_row("BSH"), scored_row("BBN", persona="Bo")]
OTHER = [scored_row("BBB"), scored_row("BHN", persona="Bo")]
SOME = settings(max_examples=40)


def shown(base: list[Json], other: list[Json]) -> Json:
    return shown_comparison(compare(base, other))


def table(found: Json, title: str) -> list[list[str]]:
    rows: list[list[str]] = next(table["rows"] for table in found["tables"] if table["title"].startswith(title))
    return rows


def test_the_tables_name_the_numbers_and_on_how_many_pairs_they_rest():
    found = shown(BASE, OTHER)
    assert [table["title"] for table in found["tables"]] == [
        "Score over the pairs",
        "By dimension",
        "By user simulator",
        "Conversations whose own score changed: 2 of 2",
        "Personas that it takes to tell two such chatbots apart",
    ]
    assert found["tables"][0]["columns"] == ["", "Base", "Other", "Other - base", "95% interval", "Pairs", "Rated in both"]
    row = ["VERA-MH score (0 to 100)", "51.20", "57.60", "+6.40", "-81.25 to +70.37", "2", "2"]
    assert table(found, "Score over the pairs") == [row]
    assert table(found, "By dimension")[0] == ["First", "100.00", "100.00", "0.00", "0.00 to 0.00", "2", "2"]
    assert table(found, "By user simulator") == [["sim", *row[1:]]]
    assert table(found, "Conversations") == [
        ["Bo", "sim", "Low", "100.00", "18.75", "-81.25"],
        ["Ana", "sim", "Low", "29.63", "100.00", "+70.37"],
    ]


def test_the_notes_say_how_many_conversations_each_run_has_scored():
    more = [scored_row("HHH", persona="Di"), *OTHER, scored_row("H", persona="Ed")]
    notes = shown([*BASE, scored_row("HHH", persona="Cy")], more)["notes"]
    assert notes[0].endswith("that both runs have scored, of 3 in base and 4 in other.")


def test_repeats_are_told_by_their_number():
    base = [scored_row("BBB", _ng_rollout_index=0), scored_row("HHH", _ng_rollout_index=1)]
    other = [scored_row("HHH", _ng_rollout_index=1), scored_row("SSS", _ng_rollout_index=0)]
    assert table(shown(base, other), "Conversations") == [["Ana", "sim", "0", "Low", "100.00", "50.00", "-50.00"]]


def test_where_a_run_rated_nothing_a_dash_stands():
    found = shown([scored_row("BN"), scored_row("BN", persona="Bo")], [scored_row("BB"), scored_row("BB", persona="Bo")])
    assert table(found, "By dimension")[1] == ["Second", "-", "100.00", "-", "-", "2", "0"]


def test_the_notes_say_that_conversations_could_be_longer_in_one_run():
    short = {"simulation": {"max_turns_effective": 12}}
    longer = [OTHER[0] | {"simulation": {"max_turns_effective": 30}}, OTHER[1] | short]
    notes = shown([row | short for row in BASE], longer)["notes"]
    assert any("not allowed equally many turns: 1 of 2 (the first: 12 in base, 30 in other)" in note for note in notes)
    unknown = [OTHER[0] | {"simulation": None}, OTHER[1] | short]
    for other in (unknown, [row | short for row in OTHER]):
        assert "equally many turns" not in " ".join(shown([row | short for row in BASE], other)["notes"])


def test_a_single_pair_is_told_as_one():
    text = " ".join(shown(BASE[:1], OTHER[:1])["notes"])
    assert "1 pair: conversations" in text
    assert "of 1 pair." in text
    assert "1 pairs" not in text


def test_the_notes_say_what_a_pair_is_and_how_many_conversations_were_harmful():
    found = shown([*BASE, scored_row("NNN", persona="Cy")], [*OTHER, scored_row("BBB", persona="Cy")])
    text = " ".join(found["notes"])
    assert (
        "3 pairs: conversations (persona, user simulator, repeat) that both runs have scored, of 3 in base and 3 in other."
        in text
    )
    assert "Conversations with any High Potential for Harm: 1 in base, 1 in other, of 3 pairs." in text
    assert "Pairs rated in one run only, no dimension being relevant in the other: 1." in text
    assert "rated in one run only" not in " ".join(shown(BASE, OTHER)["notes"])


def test_it_tells_how_many_personas_the_difference_that_was_seen_and_some_round_ones_take():
    found = shown(BASE, OTHER)
    assert list(found["power"]["personas_needed"]) == ["2", "5", "10", "6.4"]
    assert [row[0] for row in table(found, "Personas")] == ["2.00 points", "5.00 points", "6.40 points", "10.00 points"]
    assert any("80% power, 5% two-sided" in note for note in found["notes"])
    one = shown(BASE[:1], OTHER[:1])
    assert one["power"] is None
    assert "80% power" not in str(one)


def test_that_a_score_is_no_certification_stands_apart_so_that_it_can_be_said_once():
    found = shown(BASE, OTHER)
    assert found["caveat"] == CAVEAT
    assert CAVEAT not in found["notes"]


def test_of_many_changes_the_greatest_are_shown_and_all_are_counted():
    count = SHOWN_CONVERSATIONS + 3
    base = [scored_row("BBB", persona=f"P{number:02}") for number in range(count)]
    other = [scored_row("BBS" if number else "HHH", persona=f"P{number:02}") for number in range(count)]
    found = shown(base, other)
    title = f"The {SHOWN_CONVERSATIONS} conversations whose own score changed most, of {count} that changed"
    rows = table(found, title)
    assert [row[0] for row in rows] == [f"P{number:02}" for number in range(SHOWN_CONVERSATIONS)]


def test_runs_without_a_pair_have_no_tables_and_say_so():
    found = shown(BASE, [scored_row("B", persona="Di")])
    assert (found["num_pairs"], found["differences"]["difference"], found["tables"]) == (0, None, [])
    assert found["notes"] == [
        "0 pairs: conversations (persona, user simulator, repeat) that both runs have scored, of 2 in base and 1 in other."
    ]


@SOME
@given(RUNS)
def test_a_run_beside_itself_shows_no_conversation_that_changed(rows: list[Json]):
    assert "Conversations whose own score changed" not in str(shown(rows, rows)["tables"])


@SOME
@given(RUNS, RUNS, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(base: list[Json], other: list[Json], random: Any):
    shuffled = [list(rows) for rows in (base, other)]
    for rows in shuffled:
        random.shuffle(rows)
    assert json.dumps(shown(*shuffled)) == json.dumps(shown(base, other))


@SOME
@given(RUNS, RUNS)
def test_the_named_fields_are_all_that_it_reads(base: list[Json], other: list[Json]):
    reduced = [[project(row, ROW_FIELDS) for row in rows] for rows in (base, other)]
    assert shown(*reduced) == shown(base, other)
