# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One conversation as a person reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.ratings import scored_row
from vera_mh.models import Json
from vera_mh.views.conversation_page import LISTED, conversation_page, listed, names_of

ROLLOUTS = Path(__file__).parents[3] / "resources_servers/vera_mh/data/example_rollouts.jsonl"


def turn(number: int, speaker: str, text: str, **more: Any) -> Json:
    return {"turn": number, "speaker": speaker, "response": text, **more}


def record(number: int, speaker: str, **more: Any) -> Json:
    return {"turn": number, "speaker": speaker, "model": f"{speaker}-1", **more}


ROW = scored_row(
    "BHN",
    conversation=[turn(1, "persona", "hello"), turn(2, "provider", " "), turn(3, "persona", "bye", early_termination=True)],
    question_path=[
        {"question_id": "1", "dimension": "First", "answer": "Yes", "reasoning": "It does.", "next_question_id": "4"},
        {"question_id": "4", "dimension": "First", "answer": "No", "raw_answer": "Never", "fallback": True},
        {"question_id": "9", "dimension": "Second", "answer": "Not Relevant", "special_case": True},
    ],
    rating_reasoning={"First": "Nothing found."},
    judge_model="judge-1",
) | {
    "simulation": {
        "max_turns_effective": 8,
        "turn_records": [
            record(1, "persona"),
            record(2, "provider", incomplete=True, incomplete_reason="max_output_tokens"),
            record(3, "persona"),
        ],
    }
}


def section(page: Json, title: str) -> list[Json]:
    entries: list[Json] = next(section["entries"] for section in page["sections"] if section["title"].startswith(title))
    return entries


def test_the_turns_are_told_in_order_with_what_is_odd_about_them():
    entries = section(conversation_page(ROW), "Conversation")
    assert [(entry["head"], entry["text"], entry["voice"]) for entry in entries] == [
        ("1 user", "hello", "first"),
        ("2 chatbot (empty, cut short: max_output_tokens)", " ", "second"),
        ("3 user (ends the conversation)", "bye", "first"),
    ]


def test_the_path_tells_each_question_with_its_answer_and_where_that_leads():
    entries = section(conversation_page(ROW), "The judge's path")
    assert [(entry["head"], entry["text"]) for entry in entries] == [
        ("1 First: Yes, then 4", "It does."),
        ("4 First: No (stands in for 'Never', which is no option), then the end", ""),
        ("9 Second: Not Relevant (answers itself), then the end", ""),
    ]


def test_the_facts_name_the_models_as_served_and_how_it_ended():
    facts = dict(conversation_page(ROW)["facts"])
    assert (facts["user model"], facts["chatbot model"], facts["judge model"]) == ("persona-1", "provider-1", "judge-1")
    # One Best Practice and one high harm of two: (50 + 25) * 0.5^2.
    assert (facts["own score"], facts["ended"]) == ("18.75", "at the turn limit")
    assert dict(conversation_page(ROW | {"early_termination": True})["facts"])["ended"] == "by the user"


def test_the_ratings_stand_with_their_reasons():
    (table,) = conversation_page(ROW)["tables"]
    assert [row[1:] for row in table["rows"]] == [
        ["Best Practice", "Nothing found."],
        ["High Potential for Harm", ""],
        ["Not Relevant", ""],
    ]


def test_a_failed_attempt_shows_its_conversation_and_its_failure_and_no_rating():
    failed = {key: value for key, value in ROW.items() if key not in ("ratings", "question_path")}
    failed |= {"_ng_failure_class": "judge_failed", "failure_stage": "judge_question_4", "error": "no answer", "reward": 0.0}
    page = conversation_page(failed)
    assert len(section(page, "Conversation")) == 3
    assert page["tables"] == []
    facts = dict(page["facts"])
    assert (facts["failed as"], facts["failed at"], facts["error"]) == ("judge_failed", "judge_question_4", "no answer")
    assert "own score" not in facts
    assert listed(failed)[4:6] == ["judge_failed", "-"]


def test_a_row_with_next_to_nothing_in_it_still_has_a_page():
    page = conversation_page({"id": "a", "_ng_failure_class": "agent_run_error"})
    assert (page["title"], page["sections"], page["tables"]) == ("a", [], [])


def test_a_conversation_is_named_by_persona_simulator_and_repeat():
    assert names_of(ROW | {"_ng_rollout_index": 2}) == {"persona": "Ana", "simulator": "sim", "repeat": "2"}
    assert conversation_page(ROW)["title"] == "Ana, played by sim"
    assert conversation_page(ROW | {"_ng_rollout_index": 2})["title"] == "Ana, played by sim, repeat 2"


def test_a_conversation_without_a_persona_goes_by_its_id():
    row = ROW | {"id": "chats/one.txt", "persona_name": None, "user_simulator": None}
    assert names_of(row) == {"persona": "chats/one.txt", "simulator": "", "repeat": "0"}
    assert conversation_page(row)["title"] == "chats/one.txt"
    assert listed(row)[:3] == ["chats/one.txt", "-", "0"]


def test_a_line_of_a_list_tells_score_and_harm():
    assert dict(zip(LISTED, listed(ROW), strict=True)) == {
        "Persona": "Ana",
        "User simulator": "sim",
        "Repeat": "0",
        "Risk level": "Low",
        "Score": "18.75",
        "High harm in": "1 of 3",
        "Turns": "8",
    }
    assert listed(scored_row("NNN"))[4] == "-"


def test_every_example_rollout_has_a_page_with_all_its_turns_and_questions():
    for row in map(json.loads, ROLLOUTS.read_bytes().splitlines()):
        page = conversation_page(row)
        assert len(section(page, "Conversation")) == row["turn_count"]
        assert len(section(page, "The judge's path")) == len(row["question_path"])
        assert all(isinstance(value, str) for _, value in page["facts"])
