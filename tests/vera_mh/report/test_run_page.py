# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a run: what stands on it, whatever the rows are."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import pytest

from tests.support.demo import demo_pack
from tests.support.pages import Page, content_of, example_rows
from tests.support.ratings import scored_row
from vera_mh.errors import RowError
from vera_mh.metrics import compute_metrics
from vera_mh.models import Json
from vera_mh.pack import RUBRIC
from vera_mh.report import run_page
from vera_mh.report.content import Failure
from vera_mh.report.embedding import PER_BLOCK
from vera_mh.rubric import parse_rubric
from vera_mh.views.summary import CAVEAT, CAVEAT_WITHOUT_SIMULATION


def page_of(rows: list[Json], **more: Any) -> Page:
    return Page("".join(run_page(content_of(rows, **more))))


def graded(*letters: str, **more: Any) -> list[Json]:
    """Rows of different personas that are rated so."""
    return [scored_row(each, persona=f"P{n}", **more) | {"_ng_task_index": n} for n, each in enumerate(letters)]


def test_every_number_of_the_first_screen_is_that_of_the_metrics():
    rows = [*graded("BSN", "HHB", "SSN"), *graded("BBB", "H-S", simulator="other", level="High")]
    rows = [row | {"_ng_task_index": n} for n, row in enumerate(rows)]
    metrics = compute_metrics(rows)
    shown = page_of(rows).numbers
    assert shown == {name: metrics[name] for name in shown}
    groups = ["", "user_simulator/sim/", "user_simulator/other/"]
    assert {f"{group}vera_score" for group in groups} <= set(shown)
    assert {"vera_score/ci95_low", "vera_score/ci95_high", "overall_damaging_pct", "total_relevant_conversations"} <= set(shown)
    for dimension in ("First", "Second", "Third"):
        for name in ("vera_score", "best_practice_pct", "neutral_pct", "damaging_pct", "total_count"):
            assert f"{name}/dimension/{dimension}" in shown
        assert {f"damaging_pct/risk_level/{level}/dimension/{dimension}" for level in ("Low", "High")} <= set(shown)


def test_numbers_are_written_as_the_command_writes_them():
    text = page_of(graded("BSN", "BBB", "HSB")).text
    assert "VERA-MH score 62.21 of 100" in text
    assert "62.50% Best Practice" in text
    assert "of 8 ratings" in text


def test_a_score_never_stands_there_without_the_caveat():
    assert CAVEAT in page_of(graded("BSN")).text.partition("What was run")[0]


def test_a_complete_run_says_so_and_an_incomplete_one_says_what_is_missing_before_all_else():
    rows = graded("BSN", "BBB")
    complete = page_of(rows, planned=2).text
    assert "complete 2 of 2 conversations scored, 0 failed" in complete
    assert "INCOMPLETE" not in complete
    last = {
        "_ng_failure_class": "judge_failed",
        "persona_name": "Ana",
        "failure_stage": "judge_question_4",
        "error": "no <reply>",
    }
    text = page_of(rows, planned=5, failures=[Failure(3, last)]).text
    assert text.index("INCOMPLETE. 3 of 5 planned conversations have no score. 1 failed as judge_failed.") < text.index(
        "VERA-MH score"
    )
    assert "Ana · judge_failed at judge_question_4 · 3 attempts no <reply>" in text
    assert "2 of 5 conversations scored, 1 failed" in text


def test_where_nobody_knows_how_many_were_planned_failures_still_count_as_missing():
    failures = [Failure(1, {"_ng_failure_class": "agent_run_error", "_ng_task_index": 9})]
    text = page_of(graded("BSN"), failures=failures).text
    assert "INCOMPLETE. 1 conversation has no score. 1 failed as agent_run_error." in text
    assert "task 9" in text


def test_a_run_without_any_scored_row_has_no_score_and_says_so():
    page = page_of([], planned=4)
    assert "INCOMPLETE. 4 of 4 planned conversations have no score." in page.text
    assert "Nothing was rated" in page.text
    assert "vera_score" not in page.numbers
    assert page.index["rows"] == []


def test_where_everything_is_not_relevant_no_score_of_nothing_is_shown():
    page = page_of(graded("NNN"))
    assert "vera_score" not in page.numbers
    assert "50.00" not in page.text


def test_a_single_conversation_is_told_as_one():
    text = page_of(graded("BSN")).text
    assert "1 with 1 persona" in text
    assert "1 personas" not in text


def test_rows_that_tell_neither_persona_nor_risk_level_nor_simulation_are_shown():
    bare = {"_ng_task_index": 3, "_ng_rollout_index": 1, "ratings": {"First": "Best Practice"}}
    page = page_of([bare])
    assert "Judge unknown" in page.text
    assert "by risk level" not in page.text
    assert "By user simulator" not in page.text
    assert "No interval: too few are rated, 1 conversation." in page.text
    assert CAVEAT_WITHOUT_SIMULATION in page.text
    (entry,), (view,) = page.index["rows"], page.views()
    assert (entry["key"], view["key"]) == ("3-1", "3-1")
    assert view["turns"] == []
    assert view["path"] == []


@pytest.mark.parametrize("wrong", [None, 1, "text", [], [1], {}, {"a": 1}])
def test_fields_of_another_shape_than_a_row_has_are_passed_over(wrong: Any):
    row = example_rows()[-1]
    named = ("rating_reasoning", "yes_question_ids", "question_path", "judge_receipts", "persona", "response", "judge_model")
    (view,) = page_of([row | dict.fromkeys(named, wrong)]).views()
    assert len(view["turns"]) == len(row["conversation"])
    simulation = {**row["simulation"], "turn_records": wrong, "provider_system_prompt": wrong}
    assert page_of([row | {"simulation": simulation}]).views()[0]["path"]


def test_a_row_without_ratings_is_refused_and_named():
    with pytest.raises(RowError, match="2-0"):
        page_of([{"_ng_task_index": 2, "id": "a"}])


def test_what_was_run_is_said_with_the_models_as_they_were_served():
    rows = example_rows()
    identity = {
        "agent": "agent",
        "servers": {
            "agent": {"settings": {"model_server": {"name": "policy"}}},
            "policy": {"settings": {"model": "asked-for"}},
        },
        "reverifies": "0123456789abcdef",
    }
    record = {"identity": identity, "started_at": "2026-01-02T03:04:05+00:00", "ended_at": "2026-01-02T04:05:06+00:00"}
    page = page_of(rows, record=record)
    served = rows[0]["simulation"]["turn_records"][1]["model"]
    assert f"asked-for, served as {served}" in page.text
    assert f"Judge {rows[0]['judge_model']}" in page.text
    assert "2026-01-02 03:04 to 04:05 UTC" in page.text
    assert "Judged again conversations of an earlier run (0123456789ab)" in page.text


def test_rows_that_were_judged_by_different_measures_are_warned_of():
    rows = graded("BSN", "BSN")
    rows[0]["judge_model"], rows[1]["judge_model"] = "one", "two"
    assert "MIXED: judge_model is not the same in all rows: one, two." in page_of(rows).text


def test_what_a_reader_should_know_before_the_score_is_said():
    text = page_of(graded("BSN", "BBB", provider_truncated_turns=2)).text
    assert "100.0% of the conversations have a chatbot turn that was cut short." in text


def test_a_conversation_is_there_whole_with_the_path_of_the_judge_and_its_receipts():
    rows = example_rows()
    views = page_of(rows).views()
    assert [view["persona"] for view in views] == [row["persona_name"] for row in rows]
    for row, view in zip(rows, views, strict=True):
        assert [turn.get("text", "") for turn in view["turns"]] == [turn["response"] for turn in row["conversation"]]
        assert [(step["id"], step["answer"]) for step in view["path"]] == [
            (step["question_id"], step["answer"]) for step in row["question_path"]
        ]
        assert {rated["dimension"]: rated["rating"] for rated in view["ratings"]} == row["ratings"]
        assert sum(len(step.get("calls", [])) for step in view["path"]) == row["judge_calls"]


def test_what_was_asked_ahead_stands_apart_from_the_path():
    row = example_rows()[0]
    spoken = {**row["judge_receipts"][0], "question_id": "99", "speculative": True, "content": "in vain"}
    (view,) = page_of([row | {"judge_receipts": [*row["judge_receipts"], spoken]}]).views()
    assert [(call["id"], call["said"]) for call in view["ahead"]] == [("99", "in vain")]
    assert "in vain" not in str(view["path"])


def test_a_reply_that_could_not_be_read_is_kept_with_the_question_that_it_was_for():
    row = example_rows()[0]
    unread = {**row["judge_receipts"][0], "content": "no JSON"}
    read = {**row["judge_receipts"][0], "attempt": 2}
    (view,) = page_of([row | {"judge_receipts": [unread, read, *row["judge_receipts"][1:]]}]).views()
    first = view["path"][0]["calls"]
    assert [call.get("said") for call in first] == ["no JSON", None]


def test_the_wording_of_the_questions_is_there_if_their_pack_is():
    questions = parse_rubric(demo_pack().text(RUBRIC)).questions
    assert page_of(example_rows(), questions=questions).index["questions"]["1"]["text"] == questions["1"].text
    assert page_of(example_rows()).index["questions"] == {}


def test_what_the_run_took_is_shown_where_it_is_known():
    table = {"title": "Tokens", "columns": ["Role", "Input"], "rows": [["Judge", "1,234"]]}
    assert (
        "What it took Tokens Role Input Judge 1,234 A floor."
        in page_of(graded("BSN"), cost={"tables": [table], "notes": ["A floor."]}).text
    )
    assert "What it took" not in page_of(graded("BSN")).text


def test_the_page_lets_in_its_own_script_and_style_and_nothing_else():
    page = page_of(example_rows())
    (policy,) = [attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    for content in (page.scripts[""], page.style):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.count("sha256-") == 2
    assert "unsafe" not in policy
    used = {name for _, attrs in page.tags for name in attrs}
    assert not [name for name in used if name.startswith("on") or name in ("src", "srcset", "style", "action")]
    assert all((attrs.get("href") or "#").startswith("#") for _, attrs in page.tags)


def test_the_script_writes_text_and_never_markup():
    script = page_of([]).scripts[""]
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\bFunction\(", script)


def test_rows_are_packed_while_the_page_is_written_and_not_before():
    read: list[str] = []

    def rows():
        for number in range(5 * PER_BLOCK):
            read.append(str(number))
            yield scored_row("BSN", persona=f"P{number}") | {"_ng_task_index": number}

    content = content_of([], planned=5 * PER_BLOCK)
    parts = run_page(type(content)(name="x", rows=rows, row=content.row))
    for part in parts:
        if 'id="block-0"' in part:
            break
    assert len(read) <= 5 * PER_BLOCK + 2 * PER_BLOCK
    assert sum('id="block-' in part for part in parts) == 4
    assert len(read) == 2 * 5 * PER_BLOCK


def test_the_same_run_gives_the_same_page():
    first, second = ("".join(run_page(content_of(example_rows()))) for _ in range(2))
    assert first == second
