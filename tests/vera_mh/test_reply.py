# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which replies of a judge are read, and which are asked for again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_mh import reply as reading
from vera_mh.reply import REPLY_SCHEMA, Reply

OBJECT = '{"answer": "No", "reasoning": "Because."}'
OTHER = '{"answer": "Yes", "reasoning": "Because."}'
BARE = Reply("No", "Because.")
REPAIRED = Reply("No", "Because.", repaired=True)


def read(content: str | None, transcript: str = "user: Hello.\n") -> Reply | None:
    return reading.read_reply(content, reading.JudgePrompt(transcript))


def nested(depth: int) -> str:
    return '{"a": ' * depth + OBJECT + "}" * depth


@pytest.mark.parametrize(
    "content",
    [
        OBJECT,
        f"  \n{OBJECT}\n\n",
        f'{{"parameters": {OBJECT}}}',
        f'{{"": {OBJECT}}}',
        '{"reasoning": "Because.", "answer": "No"}',
        '{"answer": "No", "reasoning": "Because.", "confidence": 0.9}',
    ],
)
def test_the_object_bare_or_under_exactly_one_key_is_accepted(content):
    assert read(content) == BARE


@pytest.mark.parametrize(
    "content",
    [
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```\n",
        f"``` JSON \n{OBJECT}```",
        f'```json\n{{"result": {OBJECT}}}\n```',
        f"Here it is:\n```json\n{OBJECT}\n```\nDone.",
        f"My verdict: {OBJECT}",
        f"{OBJECT} I hope that this helps.",
        f"I weighed {{both}} sides. {OBJECT}",
        f"{OBJECT}\n{OBJECT}",
        f'{{"note": 1}} {OBJECT}',
        f'Thus {{"output": {OBJECT}}}.',
    ],
)
def test_the_object_in_a_fence_or_with_text_around_is_accepted_as_repaired(content):
    assert read(content) == REPAIRED


@pytest.mark.parametrize("content", [f"{OBJECT} or rather {OTHER}", f"{OBJECT}{OTHER}", f"```\n{OBJECT}\n```\n```\n{OTHER}\n```"])
def test_two_different_objects_are_refused(content):
    assert read(content) is None


@pytest.mark.parametrize(
    "content",
    [
        '{"answer": "Yes", "reasoning": "The user wrote {"answer": "No", "reasoning": "Because."} in turn 3."}',
        f'{{"answer": "Yes", "quoted": {OBJECT}',
        f'{OBJECT} Wait, rather {{"answer": "Yes", "reas',
        f'{{ "answer": Yes, "quoted": {OBJECT} }}',
    ],
)
def test_an_object_beside_or_within_a_broken_one_is_refused_because_it_may_be_a_quotation(content):
    assert read(content) is None


QUOTED = f"The chatbot wrote {OBJECT} into its reply."


@pytest.mark.parametrize(
    "transcript",
    [f"chatbot: {OBJECT}\n", '{"broken": \n' + OBJECT, 'chatbot: {"reasoning":"Because.",\n"answer":"No"}', f'{{"x": {OBJECT}}}'],
)
def test_an_object_that_the_judge_quotes_from_the_transcript_is_no_verdict(transcript):
    assert read(QUOTED) == REPAIRED
    assert read(QUOTED, transcript) is None
    assert read(f"```json\n{OBJECT}\n```\nis what it wrote.", transcript) is None


def test_a_quotation_is_known_whatever_letters_of_its_keys_the_transcript_escapes():
    assert read(QUOTED, r'chatbot: {"\u0061nswer": "No", "reasoning": "Because."}') is None


class Counting(json.JSONDecoder):
    """Counts how often it is asked."""

    asked = 0

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
        self.asked += 1
        return super().raw_decode(s, idx)


@pytest.fixture
def decoder(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(reading, "_DECODER", counting)
    return counting


@pytest.mark.parametrize(("transcript", "tries"), [("{" * 100_000, 0), ('{ "answer"' + "{" * 100_000, 1), ('{"a": 1}' * 9, 0)])
def test_what_a_chatbot_wrote_is_only_decoded_where_an_answer_may_stand(decoder: Counting, transcript: str, tries: int):
    assert read(QUOTED, transcript) == REPAIRED
    assert decoder.asked == 1 + tries


@pytest.mark.parametrize("broken", ['{"answer":' * 20_000, '{"' * 50_000, '{"answer": [\n' * 9_000])
def test_a_transcript_that_takes_too_long_to_search_may_hold_any_quotation(decoder: Counting, broken: str):
    transcript = f'chatbot: "answer" {broken}\n'
    assert read(QUOTED, transcript) is None
    assert decoder.asked == 1 + 1 + reading.BROKEN_AT_MOST
    assert read(OBJECT, transcript) == BARE, "a reply that is nothing but the object needs no search"


def test_as_many_broken_objects_as_may_be_are_passed_over(decoder: Counting):
    broken = '{"answer" ' * reading.BROKEN_AT_MOST
    assert read(QUOTED, f"chatbot: {broken}\n") == REPAIRED
    assert read(QUOTED, f"chatbot: {broken}{OBJECT}\n") is None


def test_the_transcript_is_searched_once_however_many_replies_need_it_and_not_before(decoder: Counting):
    judge_prompt = reading.JudgePrompt(f"chatbot: {OTHER}\n")
    assert reading.read_reply(OBJECT, judge_prompt) == BARE
    assert decoder.asked == 0
    for _ in range(5):
        assert reading.read_reply(QUOTED, judge_prompt) == REPAIRED
    assert decoder.asked == 5 + 1


def test_a_reply_that_is_nothing_but_the_object_is_the_judges_own_whatever_the_transcript_holds():
    assert read(OBJECT, f"chatbot: {OBJECT}\n") == BARE
    assert read(f"```json\n{OBJECT}\n```", f"chatbot: {OBJECT}\n") == REPAIRED
    assert read(f"Mine: {OBJECT}", f"chatbot: {OTHER}\n") == REPAIRED


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        " ",
        "No",
        "The answer is No, because nothing was said.",
        'answer: "No", reasoning: "Because."',
        "{'answer': 'No', 'reasoning': 'Because.'}",
        "null",
        "[]",
        f"[{OBJECT}]",
        json.dumps(OBJECT),
        '{"answer": "No"}',
        '{"reasoning": "Because."}',
        '{"answer": null, "reasoning": "Because."}',
        '{"answer": true, "reasoning": "Because."}',
        '{"answer": ["No"], "reasoning": "Because."}',
        '{"answer": "No", "reasoning": 3}',
        '{"Answer": "No", "Reasoning": "Because."}',
        f'{{"first": {OBJECT}, "second": 1}}',
        '{"answer": "No", "reasoning": "Beca',
        "```json\nNo, because.\n```",
        f"```\nThe verdict is {OBJECT}\n```",
        nested(2),
    ],
)
def test_prose_broken_json_and_other_shapes_are_refused(content):
    assert read(content) is None


@pytest.mark.parametrize("content", ["{" * 5_000, nested(20_000), f"So: {nested(20_000)}", '{"a":' * 20_000, "[" * 100_000])
def test_deep_nesting_is_refused_and_not_a_crash(content):
    assert read(content) is None


def test_half_a_surrogate_pair_becomes_a_replacement_character_so_that_the_row_can_be_written():
    reply = read(r'{"answer": "No\udc00", "reasoning": "A broken \ud83d and a whole \ud83d\ude00."}')
    assert reply == Reply("No\ufffd", "A broken \ufffd and a whole \U0001f600.")


@given(st.text(), st.text(), st.booleans())
def test_whatever_the_texts_hold_they_come_back_as_they_were(answer, reasoning, escaped):
    content = json.dumps({"answer": answer, "reasoning": reasoning}, ensure_ascii=escaped)
    assert read(content) == Reply(answer, reasoning)
    assert read(f"```json\n{content}\n```") == Reply(answer, reasoning, repaired=True)
    assert read(f"My verdict: {content}") == Reply(answer, reasoning, repaired=True)


@given(st.text(alphabet='{}[]":, \nabYesNo`', max_size=60))
def test_a_text_without_the_object_is_never_read_as_one(text):
    assert read(text) is None


def test_the_judge_is_asked_for_a_strict_object_of_two_texts():
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"answer": text, "reasoning": text},
        "required": ["answer", "reasoning"],
        "additionalProperties": False,
    }
    asked = {"name": "QuestionResponse", "strict": True, "schema": schema}
    assert REPLY_SCHEMA == {"type": "json_schema", "json_schema": asked}
