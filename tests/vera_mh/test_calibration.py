# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a calibration asks and compares; how it runs upstream is tested with its tool."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.support.rubrics import judge_sheet, question
from vera_mh.calibration import live, replay, scores
from vera_mh.calibration.control import Control

SHEET = judge_sheet(question("1", "A"))
RATED = {"A": "Best Practice", "B": ""}


def row(level: str, simulator: str, number: int = 0, **more: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": f"{level}-{simulator}-{number}",
        "persona_name": "Mara",
        "risk_level": level,
        "user_simulator": simulator,
    }
    return fields | {"ratings": RATED} | more


def test_a_sample_takes_from_every_risk_level_and_simulator_in_turn():
    rows = [row(level, simulator, number) for level in ("Low", "High") for simulator in ("one", "two") for number in range(3)]
    ids = [picked["id"] for picked in live.stratified(rows, 6)]
    assert ids == ["Low-one-0", "Low-two-0", "High-one-0", "High-two-0", "Low-one-1", "Low-two-1"]
    assert live.stratified(rows, 100) != rows
    assert sorted(picked["id"] for picked in live.stratified(rows, 100)) == sorted(str(one["id"]) for one in rows)


def test_ratings_are_written_in_the_form_of_upstreams_results():
    more: dict[str, Any] = {"yes_question_ids": {"A": "4"}, "yes_reasoning": {"A": 'said "no",\nthen yes'}}
    lines = list(csv.DictReader(scores.results_of([row("Low", "one"), row("High", "two", **more)]).splitlines(keepends=True)))
    assert [line["filename"] for line in lines] == ["000000_Mara_calibration_run1.txt", "000001_Mara_calibration_run1.txt"]
    assert [(line["A"], line["B"]) for line in lines] == [("Best Practice", "")] * 2
    assert (lines[1]["A_yes_question_id"], lines[1]["A_yes_reasoning"]) == ("4", 'said "no",\nthen yes')


@pytest.mark.parametrize("persona", ["Mara / Ana", "Mara [2]", "../Mara", "Mara*", "Dr. Mara"])
def test_the_sheet_of_a_conversation_is_found_whatever_its_persona_is_called(tmp_path: Path, persona: str):
    stem, other = (live.stem_of(number, row("Low", "one", persona_name=persona)) for number in (0, 1))
    (tmp_path / f"{stem}.txt").write_text("user: hi\n")
    (tmp_path / "j_run").mkdir()
    (tmp_path / "j_run" / f"{stem}_gpt_i1.tsv").write_text("Dimension\tScore\tReasoning\n")
    assert live.sheet_of(tmp_path, stem) == tmp_path / "j_run" / f"{stem}_gpt_i1.tsv"
    assert live.sheet_of(tmp_path, other) is None


def test_upstreams_scorer_is_told_a_persona_by_the_name_that_it_has_in_the_sheet_of_personas():
    (line,) = csv.DictReader(scores.results_of([row("Low", "one", persona_name="Mara Lee")]).splitlines())
    assert line["filename"].split("_")[1] == "Mara Lee"


def test_a_dimension_without_a_rating_at_a_risk_level_is_in_no_comparison_there():
    assert list(scores.by_risk([row("Low", "one")])["Low"]["dimensions"]) == ["A"]


def test_the_sheet_of_upstreams_judge_is_read_whatever_quotes_it_holds():
    assert live.ratings_of('Dimension\tScore\tReasoning\nA\tBest Practice\tsaid "no\nB\tNot Relevant\t"\n') == {
        "A": "Best Practice",
        "B": "Not Relevant",
    }


def test_a_reply_that_could_not_be_read_is_not_replayed():
    receipts = [
        {"question_id": "1", "prompt_sha256": "p", "content": "I cannot say."},
        {"question_id": "1", "prompt_sha256": "p", "content": '{"answer": "Yes", "reasoning": "so"}'},
        {"question_id": "2", "prompt_sha256": "q", "content": None},
    ]
    replies = replay.request({"transcript": "t", "judge_receipts": receipts}, SHEET)["replies"]
    assert [(reply["question_id"], reply["answer"], reply["reasoning"]) for reply in replies] == [("1", "Yes", "so")]


def test_a_reply_that_quotes_the_transcript_is_not_replayed_because_the_judge_did_not_use_it_either():
    quoted = '{"answer": "No", "reasoning": "nothing"}'
    receipts = [
        {"question_id": "1", "prompt_sha256": "p", "content": f"The chatbot wrote {quoted} into its reply."},
        {"question_id": "1", "prompt_sha256": "p", "content": 'Mine: {"answer": "Yes", "reasoning": "so"}'},
    ]
    replies = replay.request({"transcript": f"chatbot: {quoted}\n", "judge_receipts": receipts}, SHEET)["replies"]
    assert [reply["answer"] for reply in replies] == ["Yes"]


def test_an_unrated_dimension_stands_for_one_that_upstream_does_not_name():
    control = Control(replay.NAME)
    result = {"score": "Best Practice", "reasoning": "", "yes_question_id": "", "yes_reasoning": ""}
    texts = {"A": "", "B": ""}
    judged = row("Low", "one", question_path=[], rating_reasoning=texts, yes_question_ids=texts, yes_reasoning=texts)
    replay.compare(control, judged, {"asked": [], "results": {"A": result}, "stranger": None})
    assert control.agrees
    replay.compare(control, judged, {"asked": [], "results": {"A": result, "B": result}, "stranger": None})
    assert [(mismatch.field, mismatch.ours) for mismatch in control.mismatches] == [("ratings/B", "")]
