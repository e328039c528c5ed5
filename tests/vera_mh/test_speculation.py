# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Asking ahead changes nothing of a verdict, whatever the rubric, the judge and its failures are."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.golden.test_golden import cases
from tests.support.models import BAD_REPLY, completion, verdict
from tests.support.rubrics import QUESTION_TEMPLATE, SYSTEM_TEMPLATE, judge_sheet, option, question, rubrics
from vera_mh.errors import JudgeFailed, ModelError
from vera_mh.judge import Judge, JudgeSheet, Verdict
from vera_mh.models import Json
from vera_mh.pack import Pack
from vera_mh.rollout import verdict_fields
from vera_mh.rubric import Rubric, parse_rubric
from vera_mh.speculation import SpeculationPlanner


@dataclass
class Oracle:
    """A judge whose replies follow from the question alone: sometimes unusable at first, sometimes failing for good.

    Attributes:
        seed: What else they follow from.
        bad_first: Out of 10: questions whose first replies cannot be read.
        failing: Out of 10: questions at which the model fails.
    """

    seed: int
    bad_first: int = 0
    failing: int = 0
    asked: list[str] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0

    async def complete(self, body: Json) -> Json:
        prompt = body["messages"][1]["content"]
        self.asked.append(prompt)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        draw = int(hashlib.sha256(f"{self.seed}{prompt}".encode()).hexdigest(), 16)
        for _ in range(draw % 3):
            await asyncio.sleep(0)
        self.in_flight -= 1
        if draw // 7 % 10 < self.failing:
            raise ModelError("gone")
        if draw // 77 % 10 < self.bad_first and self.asked.count(prompt) <= draw % 3:
            return completion(BAD_REPLY, 1)
        options = prompt.split("options: [")[1].split("]")[0].split(", ")
        return completion(verdict(options[draw // 5 % len(options)], f"r{draw % 100}"), draw % 1000)


async def outcome(sheet: JudgeSheet, oracle: Oracle, *, ahead: bool) -> Verdict | JudgeFailed:
    planner = SpeculationPlanner(sheet.rubric) if ahead else None
    try:
        return await Judge(sheet, oracle, parse_retries=2, planner=planner).judge("user: hi\n")
    except JudgeFailed as failure:
        return failure


def needed(receipts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [receipt for receipt in receipts if not receipt.get("speculative")]


@given(rubrics(), st.integers(0, 10**6), st.integers(0, 4), st.integers(0, 2))
@settings(max_examples=300, deadline=None)
def test_ahead_or_one_by_one_the_outcome_is_the_same(rubric: Rubric, seed: int, bad_first: int, failing: int):
    sheet = JudgeSheet(rubric, SYSTEM_TEMPLATE, QUESTION_TEMPLATE)
    plain = asyncio.run(outcome(sheet, Oracle(seed, bad_first, failing), ahead=False))
    ahead = asyncio.run(outcome(sheet, Oracle(seed, bad_first, failing), ahead=True))
    if isinstance(plain, JudgeFailed) or isinstance(ahead, JudgeFailed):
        assert isinstance(plain, JudgeFailed)
        assert isinstance(ahead, JudgeFailed)
        assert str(plain) == str(ahead)
        assert (plain.question_id, plain.attempts, plain.raw_reply) == (ahead.question_id, ahead.attempts, ahead.raw_reply)
        assert plain.receipts == needed(ahead.receipts)
        return
    assert ahead.path_json() == plain.path_json()
    assert ahead.ratings == plain.ratings
    assert ahead.receipts == plain.receipts
    assert ahead.rounds <= plain.rounds


async def test_every_recorded_judging_comes_to_the_same_verdict_when_asked_ahead(golden_folder, pack):
    sheets = {"v1.2": JudgeSheet.from_pack(pack)}
    for case in cases(golden_folder, "rubrics.jsonl"):
        sheets[case["id"]] = JudgeSheet(parse_rubric(case["tsv"]), SYSTEM_TEMPLATE, QUESTION_TEMPLATE)
    for number, case in enumerate(cases(golden_folder, "judge_flow.jsonl")):
        sheet = sheets[case["rubric"]]
        judge = Judge(sheet, Recorded(sheet, case["asked"]), planner=SpeculationPlanner(sheet.rubric))
        ratings = (await judge.judge(case["transcript"])).ratings
        found = {dimension: [rated.rating, rated.reasoning] for dimension, rated in ratings.items() if rated.rating}
        assert found == {name: [result["score"], result["reasoning"]] for name, result in case["results"].items()}, number


class Recorded:
    """Gives each question the answer that was recorded for it, and some other answer to questions that were not asked then.

    A recording names a question by its text, so that of questions with the same text the one with the same examples is meant.
    """

    def __init__(self, sheet: JudgeSheet, asked: list[list[str]]) -> None:
        self._answers = {
            sheet.question_prompt(sheet.rubric.questions[id_]): [answer, reasoning] for id_, answer, reasoning in asked
        }

    async def complete(self, body: Json) -> Json:
        answer, reasoning = self._answers.get(body["messages"][1]["content"], ["Yes", "Not recorded."])
        return completion(verdict(answer, reasoning))


def judged(pack: Pack, *, risk: bool, faults: int) -> tuple[Verdict, Verdict, int]:
    """Verdicts one by one and ahead, and the calls asked ahead, of a transcript with so many faults out of 100 questions."""

    class Answers:
        calls = 0

        async def complete(self, body: Json) -> Json:
            self.calls += 1
            prompt = body["messages"][1]["content"]
            draw = int(hashlib.sha256(f"{faults}{prompt}".encode()).hexdigest(), 16)
            options = prompt.split("options: [")[1].split("]")[0].split(", ")
            if prompt == first:
                return completion(verdict("Yes" if risk else "No"))
            if "Yes" not in options:
                return completion(verdict(options[draw % len(options)]))
            return completion(verdict("Yes" if draw % 100 < faults else "No"))

    sheet = JudgeSheet.from_pack(pack)
    first = sheet.question_prompt(sheet.rubric.first)
    plain, ahead = Answers(), Answers()
    one = asyncio.run(Judge(sheet, plain).judge("user: hi\n"))
    two = asyncio.run(Judge(sheet, ahead, planner=SpeculationPlanner(sheet.rubric)).judge("user: hi\n"))
    return one, two, ahead.calls


def test_over_v1_2_a_transcript_without_faults_takes_three_rounds_and_no_call_more(pack: Pack):
    plain, ahead, calls = judged(pack, risk=True, faults=0)
    assert ahead.path_json() == plain.path_json()
    assert len(plain.answers) >= 20
    assert ahead.rounds <= 3
    assert calls <= 1.4 * len(plain.answers)


def test_over_v1_2_a_transcript_without_risk_costs_at_most_three_calls_more(pack: Pack):
    plain, ahead, calls = judged(pack, risk=False, faults=0)
    assert ahead.path_json() == plain.path_json()
    assert calls <= len(plain.answers) + 3


def test_over_v1_2_no_transcript_takes_more_than_four_rounds(pack: Pack):
    rounds = []
    for faults in range(101):
        plain, ahead, _ = judged(pack, risk=True, faults=faults)
        assert ahead.path_json() == plain.path_json()
        rounds.append(ahead.rounds)
    assert max(rounds) <= 4
    assert median(rounds) <= 3


async def test_calls_that_were_not_needed_are_marked_and_counted_apart(pack: Pack):
    sheet = judge_sheet(
        question("1", "A", "Red", answer="Yes", goto="4"),
        option("No", "2"),
        question("2", "A", "Red"),
        question("3", "A", "Red"),
        question("4", "B", "Red"),
    )
    oracle = Always("Yes")
    outcome = await Judge(sheet, oracle, planner=SpeculationPlanner(sheet.rubric)).judge("t")
    fields = verdict_fields(outcome, pack)
    assert [receipt["question_id"] for receipt in fields["judge_receipts"]] == ["1", "4", "2", "3"]
    assert [receipt.get("speculative", False) for receipt in fields["judge_receipts"]] == [False, False, True, True]
    assert (fields["judge_calls"], fields["judge_speculative_calls"], fields["judge_rounds"]) == (2, 2, 1)
    assert (
        fields["judge_usage"]
        == fields["judge_speculative_usage"]
        == {
            "prompt_tokens": 20,
            "completion_tokens": 4,
            "total_tokens": 24,
        }
    )


@dataclass
class Always:
    """A judge that always says the same."""

    answer: str

    async def complete(self, body: Json) -> Json:
        return completion(json.dumps({"answer": self.answer, "reasoning": "r"}))


@pytest.mark.parametrize("parallel", [1, 3])
async def test_no_more_questions_are_in_flight_than_allowed(pack: Pack, parallel: int):
    sheet = JudgeSheet.from_pack(pack)
    oracle = Oracle(0)
    judge = Judge(sheet, oracle, planner=SpeculationPlanner(sheet.rubric), max_parallel_questions=parallel)
    await judge.judge("user: hi\n")
    assert oracle.most_in_flight <= parallel


async def test_a_cancelled_judging_leaves_no_question_in_flight(pack: Pack):
    sheet = JudgeSheet.from_pack(pack)

    class Hanging:
        async def complete(self, body: Json) -> Json:
            await asyncio.Event().wait()
            raise AssertionError

    judging = asyncio.create_task(Judge(sheet, Hanging(), planner=SpeculationPlanner(sheet.rubric)).judge("user: hi\n"))
    await asyncio.sleep(0)
    judging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await judging
    assert asyncio.all_tasks() == {asyncio.current_task()}
