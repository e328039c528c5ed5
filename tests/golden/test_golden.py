# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The library decides as upstream's own code did on the recorded cases."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from vera_mh.errors import TranscriptError
from vera_mh.exchange.upstream_scores import upstream_scores
from vera_mh.judge import Judge, JudgeSheet
from vera_mh.metrics import compute_metrics
from vera_mh.models import Json
from vera_mh.pack import JUDGE_SYSTEM_PROMPT, PERSONA_REMINDER, QUESTION_PROMPT, RUBRIC, Pack
from vera_mh.rubric import parse_rubric
from vera_mh.simulation import effective_max_turns, messages_for
from vera_mh.transcript import parse_transcript, render_transcript
from vera_mh.turns import PERSONA, PROVIDER, conversation_from_json

RECORDED = {"rubrics.jsonl": 150, "judge_flow.jsonl": 1200, "conversations.jsonl": 300, "scores.jsonl": 250, "turns.json": 80}
"""Cases of each file: where some are missing, a test would hold less than it says."""


def cases(folder: Path, name: str) -> list[Any]:
    content = (folder / name).read_bytes()
    found = json.loads(content) if name.endswith(".json") else [json.loads(line) for line in content.splitlines()]
    assert len(found) == RECORDED[name]
    return list(found)


@pytest.fixture(scope="module")
def sheets(golden_folder: Path, pack: Pack) -> dict[str, JudgeSheet]:
    """Every rubric of the recordings, by id."""
    prompts = pack.text(JUDGE_SYSTEM_PROMPT), pack.text(QUESTION_PROMPT)
    texts = {"v1.2": pack.text(RUBRIC)} | {case["id"]: case["tsv"] for case in cases(golden_folder, "rubrics.jsonl")}
    return {id_: JudgeSheet(parse_rubric(text), *prompts) for id_, text in texts.items()}


def test_rubrics_are_read_as_upstream_reads_them(golden_folder, sheets):
    for case in cases(golden_folder, "rubrics.jsonl"):
        rubric = sheets[case["id"]].rubric
        read = {
            question.id: {
                "dimension": question.dimension,
                "risk_type": question.risk_type,
                "question": question.text,
                "examples": question.examples,
                "severity": question.severity,
                "answers": [{"option": option.text, "goto": option.goto} for option in question.options],
            }
            | ({"implicit_yes_no": True} if question.implicit else {})
            for question in rubric.questions.values()
        }
        assert read == case["questions"], case["id"]
        assert list(rubric.order) == case["question_order"], case["id"]
        # Upstream lists a dimension twice where one cell has blanks around it; both mean the same dimension.
        assert list(rubric.dimensions) == list(dict.fromkeys(case["dimensions"])), case["id"]


class Recording:
    """Plays the recorded judge, and keeps the prompts that it was asked with."""

    def __init__(self, asked: list[list[str]]) -> None:
        self._answers = iter(asked)
        self.prompts: list[str] = []

    async def complete(self, body: Json) -> Json:
        system, user = (message["content"] for message in body["messages"])
        self.prompts += [user] if self.prompts else [system, user]
        _, answer, reasoning = next(self._answers)
        content = json.dumps({"answer": answer, "reasoning": reasoning})
        return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}


async def test_every_recorded_judging_comes_to_the_same_verdict_from_the_same_prompts(golden_folder, sheets):
    for number, case in enumerate(cases(golden_folder, "judge_flow.jsonl")):
        recording = Recording(case["asked"])
        verdict = await Judge(sheets[case["rubric"]], recording).judge(case["transcript"])
        results = {
            dimension: {
                "score": rated.rating,
                "reasoning": rated.reasoning,
                "yes_question_id": rated.yes_question_id,
                "yes_reasoning": rated.yes_reasoning,
            }
            for dimension, rated in verdict.ratings.items()
            if rated.rating
        }
        assert results == case["results"], number
        assert len(verdict.answers) == len(case["asked"]), number
        prompts = recording.prompts or [sheets[case["rubric"]].system_prompt(case["transcript"])]
        assert hashlib.sha256("\n".join(prompts).encode()).hexdigest() == case["prompts_sha256"], number


def test_conversations_look_to_each_side_and_to_the_judge_as_they_do_upstream(golden_folder, pack):
    reminder = pack.text(PERSONA_REMINDER)
    for number, case in enumerate(cases(golden_folder, "conversations.jsonl")):
        turns = conversation_from_json(case["conversation"])
        assert render_transcript(turns) == case["transcript"], number
        assert [turn.to_json() for turn in turns] == case["conversation"], number
        for speaker in (PERSONA, PROVIDER):
            seen = [[message["role"], message["content"]] for message in messages_for(speaker, turns, reminder=reminder)]
            assert seen == case["messages"][speaker], (number, speaker)


def test_a_transcript_of_upstreams_is_read_back_into_the_same_text_or_named_as_doubtful(golden_folder):
    doubtful = 0
    for number, case in enumerate(cases(golden_folder, "conversations.jsonl")):
        if not case["conversation"]:
            continue
        assert render_transcript(parse_transcript(case["transcript"], label_lines="text")) == case["transcript"], number
        try:
            turns = parse_transcript(case["transcript"])
        except TranscriptError:
            doubtful += 1
            assert any("user:" in turn["response"] or "chatbot:" in turn["response"] for turn in case["conversation"]), number
        else:
            assert render_transcript(turns) == case["transcript"], number
    assert doubtful


def test_turns_are_adjusted_so_that_the_provider_speaks_last(golden_folder):
    for max_turns, persona_first, adjusted in cases(golden_folder, "turns.json"):
        assert effective_max_turns(max_turns, persona_first=persona_first) == adjusted


def test_scores_are_those_of_upstream_to_the_last_key(golden_folder, sheets):
    for number, case in enumerate(cases(golden_folder, "scores.jsonl")):
        assert upstream_scores(case["rows"], sheets["v1.2"].rubric.dimensions) == case["score"], number


def test_scores_by_risk_level_are_those_of_upstream(golden_folder):
    for number, case in enumerate(cases(golden_folder, "scores.jsonl")):
        metrics = compute_metrics(case["rows"])
        for level, expected in case["by_risk"].items():
            assert metrics[f"num_conversations/risk_level/{level}"] == expected["total_conversations"]
            for dimension, scores in expected["dimensions"].items():
                for name in ("vera_score", "best_practice_pct", "damaging_pct", "not_relevant_pct"):
                    found = metrics[f"{name}/risk_level/{level}/dimension/{dimension}"]
                    assert found == scores[name], (number, level, dimension, name)
