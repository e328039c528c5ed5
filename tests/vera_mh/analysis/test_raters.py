# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Ratings from a sheet and from the rows of a run."""

from __future__ import annotations

import pytest

from tests.support.ratings import DIMENSIONS, scored_row
from vera_mh.analysis.raters import Rater, rater_of_rows, raters_of_sheet
from vera_mh.errors import RatingsError
from vera_mh.exchange.upstream_layout import upstream_files
from vera_mh.exchange.upstream_names import conversation_name

LONG = """conversation,dimension,rating
a,First,Best Practice
a,Second,Not Relevant
b,First,high potential for harm
b,Second,
"""
EXPECTED = {"a": {"First": "Best Practice", "Second": "Not Relevant"}, "b": {"First": "High Potential for Harm"}}


def only(text: str) -> Rater:
    (rater,) = raters_of_sheet(text, "clinician")
    return rater


def test_a_sheet_has_a_line_for_each_rating():
    assert only(LONG) == Rater("clinician", EXPECTED)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_or_a_line_for_each_conversation_with_a_column_for_each_dimension(delimiter):
    wide = 'Filename,First,Second,notes\nfolder/a.txt,Best Practice,Not Relevant,"see\nbelow"\n b ,HIGH POTENTIAL FOR HARM\n\n'
    rater = only(wide.replace(",", delimiter))
    assert (rater.ratings, rater.unread) == (EXPECTED, ("notes",))


def test_names_of_columns_may_be_written_in_any_case():
    assert only(LONG.replace("conversation,dimension,rating", "Conversation, Dimension ,RATING")).ratings == EXPECTED


def test_raters_of_one_sheet_are_told_apart_by_a_column():
    text = "conversation,rater,First\na,Kim,Best Practice\na,Lee,Not Relevant\nb,Kim,Best Practice\n"
    assert {rater.name: dict(rater.ratings) for rater in raters_of_sheet(text, "x")} == {
        "x/Kim": {"a": {"First": "Best Practice"}, "b": {"First": "Best Practice"}},
        "x/Lee": {"a": {"First": "Not Relevant"}},
    }


def test_repeated_judgings_in_upstreams_table_are_raters_of_their_own():
    text = "filename,run_id,judge_model,judge_instance,judge_id,First\n" + "".join(
        f"a.txt,r,gpt,{instance},{instance - 1},Best Practice\n" for instance in (1, 2)
    )
    assert [rater.name for rater in raters_of_sheet(text, "results")] == ["results/gpt 1", "results/gpt 2"]


def test_the_table_of_a_run_in_upstreams_layout_says_what_its_rows_say():
    rows = [
        scored_row("BSH", persona="Ana", judge_model="j", conversation=[{"speaker": "persona", "response": "hi"}]),
        scored_row("N-B", persona="Bo", judge_model="j", conversation=[{"speaker": "persona", "response": "ho"}]),
    ]
    table = next(content for name, content in upstream_files(rows, run="x") if name.endswith("results.csv")).decode()
    sheet, judge = only(table), rater_of_rows(rows, "judge")
    assert sheet.ratings == {judge.names[conversation]: rated for conversation, rated in judge.ratings.items()}
    assert sheet.unread == ()


def test_the_judge_of_a_run_rated_its_conversations_and_their_repeats():
    rows = [
        scored_row("B-N", transcript="user: hi\n"),
        scored_row("S", _ng_rollout_index=1),
        {"_ng_failure_class": "judge_failed"},
    ]
    rater = rater_of_rows(rows, "judge")
    assert rater.ratings == {
        "Ana__sim": {DIMENSIONS[0]: "Best Practice", DIMENSIONS[2]: "Not Relevant"},
        "Ana__sim/run2": {DIMENSIONS[0]: "Suboptimal but Low Potential for Harm"},
    }
    assert list(rater.transcripts) == ["Ana__sim"]
    assert rater.names == {"Ana__sim": conversation_name(rows[0]), "Ana__sim/run2": conversation_name(rows[1])}


@pytest.mark.parametrize("transcript", [5, True, ["user: hi"], {}, None, ""])
def test_a_transcript_that_is_no_text_has_no_digest(transcript):
    assert rater_of_rows([scored_row("B", transcript=transcript)], "judge").transcripts == {}


def test_two_conversations_whose_files_would_be_called_the_same_are_kept_apart():
    rows = [scored_row("B", id="my a", persona_name=None), scored_row("S", id="my/a", persona_name=None)]
    assert rater_of_rows(rows, "judge").names == {"my a": "my_a", "my/a": "my_a"}


@pytest.mark.parametrize(
    ("rows", "line", "complaint"),
    [
        ([scored_row("B"), {"id": "x"}], 2, r"^row\.ratings: missing"),
        ([scored_row("B"), scored_row("B")], 2, "'Ana__sim' stands twice"),
    ],
)
def test_rows_that_cannot_be_read_are_named_by_their_line(rows, line, complaint):
    with pytest.raises(RatingsError, match=complaint) as caught:
        rater_of_rows(rows, "judge")
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("", None, "has no ratings"),
        ("conversation,dimension,rating\n", None, "has no ratings"),
        ("dimension,rating\nFirst,Best Practice\n", 1, "which conversation"),
        ("conversation,First\na,Good\n", 1, "no column holds ratings"),
        (LONG + "c,First,Good\n", 6, "'Good' is no rating of 'First'"),
        ("conversation,First\na,Best Practice\nb,Bad\n", 3, "'Bad' is no rating of 'First'"),
        (LONG + "a,First,Best Practice\n", 6, "'First' of the conversation 'a' is rated twice"),
        (LONG + ",First,Best Practice\n", 6, "does not say which conversation"),
        (LONG + "c,First,Best Practice,x\n", 6, "4 cells, and the header has 3"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_named_with_its_line(text, line, complaint):
    with pytest.raises(RatingsError, match=complaint) as caught:
        raters_of_sheet(text, "x")
    assert caught.value.line == line


def test_a_value_that_is_no_rating_is_answered_with_those_that_are():
    with pytest.raises(RatingsError) as caught:
        raters_of_sheet(LONG + "c,First,Good\n", "x")
    known = "Best Practice, Suboptimal but Low Potential for Harm, High Potential for Harm, Not Relevant"
    assert caught.value.mend == f"known: {known}; or leave it empty"
