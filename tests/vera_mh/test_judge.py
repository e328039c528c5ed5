# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The judge asks question by question, keeps a receipt of every call, and never guesses."""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest

from tests.support.models import BAD_REPLY, USAGE, Listed, completion, verdict
from tests.support.rubrics import judge_sheet, option, question, self_answering
from vera_mh.asking import RAW_REPLY_LIMIT
from vera_mh.errors import JudgeFailed, ModelError, RubricError
from vera_mh.judge import Judge, JudgeSheet, Verdict
from vera_mh.pack import JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NOT_RELEVANT
from vera_mh.reply import REPLY_SCHEMA
from vera_mh.transcript import sha256

TRANSCRIPT = "user: {hi} %s\n"
SHEET = judge_sheet(
    question("1", "A", answer="No risk", goto="3"),
    option("Some risk"),
    question("2", "A", "Red", examples="Such as this."),
    self_answering("3", "B", "NOT_RELEVANT>>4"),
    question("4", "C"),
    question("5", "D"),
)


async def judged(*replies: Any, transcript: str = TRANSCRIPT, **judge: Any) -> tuple[Verdict, list[Any]]:
    """The verdict and the bodies that were asked with."""
    model = Listed(replies)
    return await Judge(SHEET, model, **judge).judge(transcript), model.bodies


async def failed(*replies: Any, **judge: Any) -> JudgeFailed:
    with pytest.raises(JudgeFailed) as caught:
        await judged(*replies, **judge)
    return caught.value


async def test_each_question_is_a_fresh_request_of_two_messages():
    _, bodies = await judged(verdict("Some risk"), verdict("No"), verdict("Yes"), verdict("No"))
    system = {"role": "system", "content": f"Read this:\n{TRANSCRIPT}"}
    users = [
        "Question 1?\noptions: [No risk, Some risk]",
        "Question 2?\noptions: [Yes, No]\nSuch as this.\n",
        "Question 4?\noptions: [Yes, No]",
        "Question 5?\noptions: [Yes, No]",
    ]
    assert [body["messages"] for body in bodies] == [[system, {"role": "user", "content": user}] for user in users]


async def test_a_request_holds_the_schema_the_configured_parameters_and_nothing_else():
    _, (body, *_) = await judged(*repeat(verdict("No"), 3), request={"reasoning_effort": "low"})
    assert set(body) == {"messages", "response_format", "prompt_cache_key", "reasoning_effort"}
    assert (body["response_format"], body["reasoning_effort"]) == (REPLY_SCHEMA, "low")


async def test_all_questions_of_a_conversation_share_a_cache_key_that_no_other_conversation_has():
    _, bodies = await judged(*repeat(verdict("No"), 3))
    _, others = await judged(*repeat(verdict("No"), 3), transcript="user: hello\n")
    (key,), (other,) = ({body["prompt_cache_key"] for body in asked} for asked in (bodies, others))
    assert key != other
    # OpenAI refuses longer ones.
    assert len(key) <= 64


async def test_the_question_that_marks_its_dimension_costs_no_request():
    outcome, bodies = await judged(verdict("No risk"), verdict("No"), verdict("No"))
    assert len(bodies) == len(outcome.answers) == 3
    assert [step.question.id for step in outcome.path] == ["1", "3", "4", "5"]
    assert outcome.ratings["B"].rating == NOT_RELEVANT


async def test_every_dimension_of_the_rubric_has_an_entry_and_the_unreached_an_empty_rating():
    sheet = judge_sheet(question("1", "A", answer="Yes", goto="3"), question("2", "B"), question("3", "C", "Red"))
    outcome = await Judge(sheet, Listed([verdict("Yes"), verdict("Yes")])).judge(TRANSCRIPT)
    assert {dimension: rated.rating for dimension, rated in outcome.ratings.items()} == {
        "A": BEST_PRACTICE,
        "B": "",
        "C": HIGH_HARM,
    }
    assert list(outcome.ratings) == ["A", "B", "C"]


async def test_the_path_tells_each_step_and_the_response_that_it_came_from():
    outcome, _ = await judged(BAD_REPLY, verdict("no", "Nothing."), verdict("Perhaps", "Unsure."), verdict("No"))
    assert outcome.path_json() == [
        {
            "question_id": "1",
            "dimension": "A",
            "answer": "No risk",
            "raw_answer": "no",
            "fallback": False,
            "reasoning": "Nothing.",
            "goto": "3",
            "next_question_id": "3",
            "response_id": "chatcmpl-2",
        },
        {
            "question_id": "3",
            "dimension": "B",
            "answer": "Rate this dimension Not Relevant",
            "raw_answer": "Rate this dimension Not Relevant",
            "fallback": False,
            "reasoning": "Special case",
            "goto": "NOT_RELEVANT>>4",
            "next_question_id": "4",
            "special_case": True,
        },
        {
            "question_id": "4",
            "dimension": "C",
            "answer": "Yes",
            "raw_answer": "Perhaps",
            "fallback": True,
            "reasoning": "Unsure.",
            "goto": None,
            "next_question_id": "5",
            "response_id": "chatcmpl-3",
        },
        {
            "question_id": "5",
            "dimension": "D",
            "answer": "No",
            "raw_answer": "No",
            "fallback": False,
            "reasoning": "Because.",
            "goto": None,
            "next_question_id": None,
            "response_id": "chatcmpl-4",
        },
    ]
    assert (outcome.fallback_answers, outcome.parse_retries, outcome.repaired_replies) == (1, 1, 0)


async def test_every_call_leaves_a_receipt_retries_included():
    outcome, bodies = await judged(verdict("No risk"), BAD_REPLY, verdict("No"), f"So: {verdict('No')}")
    contents = [verdict("No risk"), BAD_REPLY, verdict("No"), f"So: {verdict('No')}"]
    prompts = [body["messages"][0]["content"] + "\n" + body["messages"][1]["content"] for body in bodies]
    assert outcome.receipts == [
        {
            "question_id": id_,
            "attempt": attempt,
            "judge_model": "judge-served",
            "response_id": f"chatcmpl-{number}",
            "finish_reason": "stop",
            "usage": USAGE,
            "content": content,
            "content_sha256": sha256(content),
            "prompt_sha256": sha256(prompt),
        }
        for number, (id_, attempt, content, prompt) in enumerate(
            zip("1445", (1, 1, 2, 1), contents, prompts, strict=True), start=1
        )
    ]
    assert bodies[1] == bodies[2]
    assert outcome.repaired_replies == 1


async def test_a_receipt_tells_what_was_sent_otherwise_than_asked():
    adapted = completion(verdict("No")) | {"x_sent_parameters": {"temperature": None}}
    outcome, _ = await judged(adapted, verdict("No"), verdict("No"))
    assert [receipt.get("sent_parameters") for receipt in outcome.receipts] == [{"temperature": None}, None, None]


@pytest.mark.parametrize("retries", [0, 3, 8])
async def test_an_unusable_reply_is_asked_for_again_and_the_last_retry_still_counts(retries):
    outcome, bodies = await judged(*repeat(BAD_REPLY, retries), *repeat(verdict("No"), 3), parse_retries=retries)
    assert (outcome.parse_retries, len(bodies)) == (retries, retries + 3)


async def test_by_default_eight_retries_are_made_then_the_judging_fails_with_the_raw_reply():
    cut = completion(BAD_REPLY, 42)
    cut["choices"][0]["finish_reason"] = "length"
    failure = await failed(verdict("No risk"), *repeat("{", 8), cut, verdict("No"))
    assert str(failure) == "the judge gave no usable reply to question 4 in 9 attempts"
    assert (failure.question_id, failure.attempts) == ("4", 9)
    assert (failure.raw_reply, failure.finish_reason, failure.usage) == (BAD_REPLY, "length", USAGE)
    assert [(receipt["question_id"], receipt["attempt"]) for receipt in failure.receipts] == [
        ("1", 1),
        *(("4", attempt) for attempt in range(1, 10)),
    ]


async def test_a_raw_reply_is_kept_up_to_a_limit_and_whole_in_its_receipt():
    failure = await failed("x" * 10_000, parse_retries=0)
    assert failure.raw_reply == "x" * RAW_REPLY_LIMIT
    assert failure.receipts[0]["content"] == "x" * 10_000


async def test_a_reply_without_content_is_retried_and_its_receipt_says_so():
    failure = await failed(None, parse_retries=0)
    assert failure.raw_reply is None
    assert (failure.receipts[0]["content"], failure.receipts[0]["content_sha256"]) == (None, sha256(""))


async def test_an_error_of_the_judge_model_is_no_rating_and_is_not_retried_here():
    failure = await failed(verdict("No risk"), ModelError("context length exceeded", status=400))
    assert str(failure) == "the judge model failed at question 4: context length exceeded"
    assert (failure.question_id, failure.attempts, failure.raw_reply) == ("4", 1, None)
    assert [receipt["question_id"] for receipt in failure.receipts] == ["1"]


async def test_an_error_after_an_unusable_reply_keeps_that_reply():
    failure = await failed(BAD_REPLY, ModelError("gone"))
    assert (failure.attempts, failure.raw_reply, failure.finish_reason, failure.usage) == (2, BAD_REPLY, "stop", USAGE)
    assert len(failure.receipts) == 1


@pytest.mark.parametrize("answer", [{}, {"choices": None}, {"choices": []}, {"choices": ["No"]}])
async def test_an_answer_without_choices_fails_the_judging(answer):
    assert str(await failed(answer)) == "the judge model failed at question 1: the answer has no choices"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"error": {"message": "overloaded", "code": 502}}, "overloaded"),
        ({"choices": [completion(verdict("No"))["choices"][0] | {"error": {"message": "cut off"}}]}, "cut off"),
        ({"choices": [completion(verdict("No"))["choices"][0] | {"finish_reason": "error"}]}, "ended with an error"),
        ({"choices": [], "error": "overloaded"}, "overloaded"),
    ],
)
async def test_an_answer_that_tells_of_an_error_fails_the_judging_even_where_its_text_could_be_read(changed, words):
    failure = await failed(completion(verdict("No")) | changed)
    assert str(failure).startswith("the judge model failed at question 1: ")
    assert words in str(failure)


async def test_an_answer_without_id_model_or_usage_is_judged_all_the_same():
    bare = {"choices": [{"message": {"content": verdict("No")}}]}
    outcome, _ = await judged(bare, bare, bare)
    assert [outcome.receipts[0][key] for key in ("judge_model", "response_id", "usage", "finish_reason")] == [None] * 4


async def test_a_judge_with_nothing_to_ask_gives_a_verdict_without_a_call():
    outcome = await Judge(judge_sheet(self_answering("1", "A", "END")), Listed([])).judge(TRANSCRIPT)
    assert (outcome.receipts, len(outcome.path)) == ([], 1)
    assert outcome.ratings["A"].rating == NOT_RELEVANT


def test_the_real_pack_gives_a_sheet_whose_prompts_hold_what_they_must(pack):
    sheet = JudgeSheet.from_pack(pack)
    assert "user: {hi} %s" in sheet.system_prompt(TRANSCRIPT)
    for each in sheet.rubric.questions.values():
        prompt = sheet.question_prompt(each)
        assert each.text in prompt
        assert ", ".join(choice.text for choice in each.options) in prompt
        assert each.examples in prompt


@pytest.mark.parametrize(
    ("name", "template"), [(JUDGE_SYSTEM_PROMPT, "{transcript}"), (QUESTION_PROMPT, "{question} {"), (QUESTION_PROMPT, "{}")]
)
def test_a_template_that_cannot_be_filled_is_refused_before_anything_is_asked(pack, name, template):
    broken = replace(pack, contents={**pack.contents, name: template.encode()})
    with pytest.raises(RubricError, match="a judge prompt template of the pack cannot be filled"):
        JudgeSheet.from_pack(broken)
