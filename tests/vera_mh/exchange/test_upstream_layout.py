# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A finished run in upstream's layout."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.support.ratings import DIMENSIONS, scored_row
from vera_mh.errors import RowError
from vera_mh.exchange.upstream_layout import first_issue, upstream_files
from vera_mh.exchange.upstream_scores import upstream_scores
from vera_mh.transcript import parse_transcript, render_transcript

SAID = [{"speaker": "persona", "response": "hi"}, {"speaker": "provider", "response": "hello\n\nyou"}]


def judged(letters: str, **more: Any) -> dict[str, Any]:
    reasoning = {"First": 'High risk issues found: Q3: it\tsaid\n"no"; or, so; Q4: more', "Second": "No issues."}
    said = {"conversation": SAID, "rating_reasoning": reasoning, "judge_model": "org/judge:1"}
    return scored_row(letters, **(said | more))


def written(*rows: dict[str, Any]) -> dict[str, bytes]:
    return dict(upstream_files(rows, run="x"))


FOLDER = "evaluations/j_org_judge_1x1__x"


def test_conversations_sheets_table_and_scores_lie_where_upstream_has_them():
    files = written(judged("BSH"), judged("N-B", persona="Bo"))
    names = [name.removeprefix("conversations/").removesuffix(".txt") for name in files if name.startswith("conversations/")]
    assert [name[6:] for name in names] == ["_Ana_sim_run1", "_Bo_sim_run1"]
    assert sorted(set(files) - {f"conversations/{name}.txt" for name in names}) == sorted(
        [*(f"{FOLDER}/{name}_org_judge_1_i1.tsv" for name in names), f"{FOLDER}/results.csv", f"{FOLDER}/scores/scores.json"]
    )


def test_a_conversation_is_written_as_the_judge_read_it_and_can_be_read_back():
    text = next(iter(written(judged("BSH")).values())).decode()
    assert text == "user: hi\n\nchatbot: hello\n\nyou\n"
    assert render_transcript(parse_transcript(text)) == text


def test_a_sheet_has_one_line_for_each_dimension_that_was_rated():
    (sheet,) = [content for name, content in written(judged("H-N")).items() if name.endswith(".tsv")]
    assert sheet.decode() == (
        "Dimension\tScore\tReasoning\n"
        'First\tHigh Potential for Harm\tHigh risk issues found: Q3: it said "no"; or, so; Q4: more\n'
        "Third\tNot Relevant\t\n"
    )


def test_the_table_has_upstreams_columns_and_a_row_for_each_conversation():
    table = list(csv.DictReader(io.StringIO(written(judged("HB-"))[f"{FOLDER}/results.csv"].decode())))
    about = ["filename", "run_id", "judge_model", "judge_instance", "judge_id"]
    assert list(table[0])[:8] == [*about, "First", "First_yes_question_id", "First_yes_reasoning"]
    assert (table[0]["run_id"], table[0]["judge_model"], table[0]["judge_instance"], table[0]["judge_id"]) == (
        "x",
        "org/judge:1",
        "1",
        "0",
    )
    assert (table[0]["First"], table[0]["Second"], table[0]["Third"]) == ("High Potential for Harm", "Best Practice", "")
    assert (table[0]["First_yes_question_id"], table[0]["First_yes_reasoning"]) == ("3", 'it said "no"; or, so')
    assert (table[0]["Second_yes_question_id"], table[0]["Second_yes_reasoning"]) == ("", "")


def test_the_scores_are_those_of_upstreams_document_below_the_models():
    rows = [judged("BSH"), judged("BBN", persona="Bo", response={"model": "chatbot-1"})]
    scores = json.loads(written(*rows)[f"{FOLDER}/scores/scores.json"])
    models = {"judge_model": "org/judge:1", "persona_model": "sim", "agent_model": "chatbot-1"}
    assert scores == models | upstream_scores(rows, DIMENSIONS)
    assert list(scores)[:3] == list(models)


@pytest.mark.parametrize(
    ("reasoning", "issue"),
    [
        ("Medium risk issues found: Q12: one; Q13: two", ("12", "one")),
        ("High risk issues found: Q3 (ASSIGN_END): said", ("", "")),
        ("High risk issues found: Q3: a; b;  Q4: c", ("3", "a; b")),
        ("High risk issues found: Q3: ; Q4: c", ("3", "; Q4: c")),
        ("Q3: ", ("", "")),
        ("", ("", "")),
    ],
)
def test_the_first_issue_is_taken_out_of_a_reasoning_as_upstream_takes_it(reasoning, issue):
    assert first_issue(reasoning) == issue


def test_failed_rows_are_left_out_and_rows_that_nobody_judged_are_refused():
    failed = {"_ng_failure_class": "judge_failed", "id": "x"}
    assert written(failed, judged("BSH")) == written(judged("BSH"))
    with pytest.raises(RowError, match=r"^row 2\.ratings: missing"):
        written(judged("BSH"), {"id": "y", "conversation": SAID})


def test_no_name_of_a_judge_leads_to_a_file_that_cannot_be_written():
    names = list(written(judged("BSH", judge_model="../a\0b:1")))
    assert [name for name in names if name.endswith(".tsv")][0].endswith("_sim_run1_.._a_b_1_i1.tsv")
    assert not any("\0" in name or "/../" in name for name in names)


@pytest.mark.parametrize("reasoning", ["text", ["a"], 5, {"First": None}])
def test_reasons_of_another_shape_are_left_out_of_the_sheet(reasoning):
    (sheet,) = [content for name, content in written(judged("H-N", rating_reasoning=reasoning)).items() if name.endswith(".tsv")]
    assert sheet.decode().splitlines()[1:] == ["First\tHigh Potential for Harm\t", "Third\tNot Relevant\t"]


def test_two_conversations_of_one_name_are_refused():
    with pytest.raises(RowError, match="row 2: two conversations have the name"):
        written(judged("BSH"), judged("BSH"))
