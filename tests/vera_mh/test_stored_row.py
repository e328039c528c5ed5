# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Stored rows of any shape, as they are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.mangled import ANY_JSON, mangled
from vera_mh.analysis.raters import rater_of_rows
from vera_mh.errors import RowError
from vera_mh.exchange.upstream_layout import upstream_files
from vera_mh.metrics import check_row
from vera_mh.models import Json
from vera_mh.report.conversation_view import conversation_view
from vera_mh.stored_row import StoredStep, mapping, mappings, models_of, path_of, reason_of, text_of, turns_of
from vera_mh.views.conversation_page import conversation_page, listed
from vera_mh.views.samples import sample
from vera_mh.views.usage import usage_of

ROLLOUTS = Path(__file__).parents[2] / "resources_servers/vera_mh/data/example_rollouts.jsonl"

SAID = [{"turn": 1, "speaker": "persona", "response": "hello"}, {"turn": 2, "speaker": "provider", "response": "hi"}]
RECORDS = [
    {"turn": 1, "speaker": "persona", "model": "p-1"},
    {"turn": 2, "speaker": "provider", "model": "c-1", "incomplete": True},
]


def short(row: Json) -> Json:
    """A row with a few turns and questions, so that a change meets any of its fields."""
    parts = {name: row[name][:2] for name in ("conversation", "question_path", "judge_receipts")}
    simulation = row["simulation"] | {"turn_records": row["simulation"]["turn_records"][:2]}
    return row | parts | {"simulation": simulation, "response": {"output": row["response"]["output"][:3]}}


ROW = short(json.loads(ROLLOUTS.read_bytes().splitlines()[-1]))
SHOWN = ("conversation", "question_path", "simulation", "rating_reasoning", "judge_receipts", "response", "judge_model", "id")


# Any shape


@pytest.mark.parametrize("show", [conversation_page, listed])
@given(
    row=st.one_of(mangled(ROW), st.dictionaries(st.sampled_from(sorted(ROW)), ANY_JSON)).filter(lambda row: isinstance(row, dict))
)
def test_a_row_of_any_shape_can_be_looked_at(show: Callable[[Json], Any], row: Json):
    assert json.dumps(show(row))


@pytest.mark.parametrize(
    "show",
    [
        sample,
        conversation_view,
        lambda row: usage_of([row]).summary(),
        lambda row: rater_of_rows([row], "judge").name,
        lambda row: [name for name, _ in upstream_files([row | {"conversation": SAID}], run="x")],
    ],
    ids=["sample", "view", "usage", "rater", "upstream"],
)
@given(data=st.data())
def test_a_row_that_can_be_counted_can_be_shown_whatever_else_is_in_it(show: Callable[[Json], Any], data: st.DataObject):
    row = data.draw(st.one_of(mangled(ROW), st.dictionaries(st.sampled_from(SHOWN), ANY_JSON).map(lambda odd: ROW | odd)))
    assume(isinstance(row, dict) and countable(row))
    assert json.dumps(show(row))


def countable(row: Json) -> bool:
    try:
        check_row("row", row)
    except RowError:
        return False
    return not row.get("_ng_failure_class")


# Turns


def test_a_turn_stands_with_what_the_run_noted_of_it():
    first, second = turns_of({"conversation": SAID, "simulation": {"turn_records": RECORDS}})
    assert (first.number, first.speaker, first.text, first.record["model"], first.cut) == (1, "persona", "hello", "p-1", "")
    assert (second.number, second.speaker, second.text, second.record["model"]) == (2, "provider", "hi", "c-1")
    assert second.cut == "unknown reason"


def test_without_a_conversation_the_turns_are_those_of_the_response():
    output = [{"role": "user", "content": "hello"}, "x", {"type": "message", "role": "assistant", "content": "hi"}]
    for row in ({"response": {"output": output}}, {"conversation": None, "response": {"output": output}}):
        assert [(turn.speaker, turn.text) for turn in turns_of(row)] == [("persona", "hello"), ("provider", "hi")]


def test_an_odd_turn_hides_none_of_the_others():
    turns = turns_of({"conversation": [SAID[0], "hi", {"turn": [2], "speaker": {}, "response": None}, SAID[1]]})
    assert [(turn.number, turn.speaker, turn.text) for turn in turns] == [
        (1, "persona", "hello"),
        (2, "", ""),
        (2, "provider", "hi"),
    ]


@pytest.mark.parametrize("odd", [None, 5, "text", {"a": 1}, [5], ["text"]])
def test_what_is_no_list_of_turns_questions_or_records_is_none(odd: Any):
    assert turns_of({"conversation": odd, "simulation": odd}) == []
    assert path_of({"question_path": odd}) == []
    assert reason_of({"rating_reasoning": odd}, "First") == ""
    assert models_of({"simulation": {"turn_records": odd}}, "persona") == []


def test_the_models_of_a_side_are_named_once_in_the_order_in_which_they_spoke():
    records = [*RECORDS, {"speaker": "provider", "model": None}, {"speaker": "provider", "model": "c-2"}, RECORDS[1]]
    assert models_of({"simulation": {"turn_records": records}}, "provider") == ["c-1", "c-2"]


# Path


def test_a_step_holds_texts_whatever_stood_in_the_row():
    step = {"question_id": 4, "dimension": None, "answer": ["No"], "raw_answer": "no", "fallback": 1, "next_question_id": "5"}
    assert path_of({"question_path": [step]}) == [StoredStep("4", "", "['No']", "no", True, False, "", "", "5")]


# Fields


def test_the_objects_of_a_list_are_found_and_what_is_none_is_passed_over():
    assert mappings([{"a": 1}, None, "x", {}, [{}]]) == [{"a": 1}, {}]
    lists_of_none: tuple[Any, ...] = (None, {"a": {}}, "x", 3)
    assert not any(map(mappings, lists_of_none))


def test_a_field_of_another_shape_is_an_empty_object_and_an_absent_one_an_empty_text():
    assert [mapping({"a": 1}), mapping(None), mapping([1])] == [{"a": 1}, {}, {}]
    assert [text_of("a"), text_of(0), text_of(None)] == ["a", "0", ""]
