# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How answers of models are read."""

from __future__ import annotations

import pytest

from tests.support.models import message, reasoning, refusal, response
from vera_mh.errors import ModelError
from vera_mh.responses import NO_ROOM, TOKEN_IDS, checked_response, incomplete_reason, is_incomplete, output_text

CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], ""),
        ([message("a")], "a"),
        ([message(" a\n"), message("b ")], " a\nb "),
        ([reasoning("never said"), message("said")], "said"),
        ([reasoning("never said")], ""),
        ([refusal("I can't.")], "I can't."),
        ([{"role": "user", "content": "plain"}], "plain"),
        ([{"type": "message", "content": None}], ""),
        ([{"type": "message", "content": []}], ""),
        ([{"type": "message", "content": [{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}]}], "ab"),
        ([{"type": "function_call", "name": "f", "arguments": "{}", "content": "x"}], ""),
    ],
)
def test_the_text_is_that_of_the_messages_or_the_refusal_and_never_the_reasoning(items, text):
    assert output_text(items) == text


@pytest.mark.parametrize(
    ("more", "cut", "reason"),
    [
        ({}, False, None),
        ({"incomplete_details": None}, False, None),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, True, "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": None}, True, None),
        ({"incomplete_details": {"reason": "content_filter"}}, True, "content_filter"),
    ],
)
def test_a_response_is_incomplete_by_its_status_or_its_details(more, cut, reason):
    assert (is_incomplete(response(**more)), incomplete_reason(response(**more))) == (cut, reason)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([], "no JSON object"),
        ({}, "`output` is no list of items"),
        ({"choices": []}, "`output` is no list of items"),
        (response() | {"output": None}, "`output` is no list of items"),
        (response() | {"output": ["said"]}, "`output` is no list of items"),
        (response(status="failed", error=None), "its status is 'failed'"),
        (response(message("half a rep"), status="cancelled"), "its status is 'cancelled'"),
        (response(status="in_progress"), "its status is 'in_progress'"),
        (response(status="failed", error={"code": "server_error", "message": "crashed"}), "crashed"),
        (response(message("Hi."), error="overloaded"), "overloaded"),
        (response(message("Hi."), error={"code": 7}), "{'code': 7}"),
        (response(message("Hi."), usage=3), "`usage` is no object"),
        (response(message("Hi."), incomplete_details="length"), "`incomplete_details` is no object"),
        (response(message("Hi.") | {"content": 3}), "`output[0].content` is no text"),
        (response(reasoning("Hm."), message("Hi.") | {"content": ["a", None]}), "`output[1].content[1]` is no text"),
        (response(message("Hi.") | {"content": [{"type": "output_text", "text": 3}]}), "`output[0].content[0]` is no text"),
    ],
)
def test_an_answer_that_is_no_reply_is_an_error_of_the_model_and_says_why(answer, words):
    with pytest.raises(ModelError) as caught:
        checked_response(answer)
    assert words in caught.value.message


@pytest.mark.parametrize(
    "answer",
    [
        response(),
        {"output": []},
        response(message("")),
        response(message("Hi.") | {"content": None}),
        response(message("Hi."), error=None, status=None),
        response(refusal("No.") | {"content": [{"type": "refusal", "refusal": "No.", "text": None}]}),
        response(message("Hi.") | {"content": [{"type": "output_audio", "data": "abc"}, "Hi."]}),
        response(message("Half a sent"), **CUT),
    ],
)
def test_a_reply_is_taken_as_it_came_and_may_be_empty(answer):
    assert checked_response(answer) is answer


@pytest.mark.parametrize(
    "answer",
    [
        # As NeMo Gym's `vllm_model` answers where its endpoint refuses the prompt for its length.
        response(message(""), **CUT, usage=None),
        response(message("") | {"status": None}, **CUT),
        response(message(""), **CUT, usage={"input_tokens": 4096, "output_tokens": 0}),
        response(message("") | {"status": "incomplete"}, **CUT, usage={"output_tokens": 0}),
        response(**CUT, usage={"output_tokens": 0}),
    ],
)
def test_an_empty_reply_cut_short_before_any_token_is_a_conversation_that_does_not_fit_and_no_turn(answer):
    with pytest.raises(ModelError) as caught:
        checked_response(answer)
    assert caught.value.message == NO_ROOM
    assert "context length" in NO_ROOM


@pytest.mark.parametrize(
    "answer",
    [
        response(reasoning("Long thoughts."), **CUT, usage=None),
        response(reasoning("Long thoughts."), message(""), **CUT, usage={"output_tokens": 0}),
        response(message(""), **CUT, usage={"output_tokens": 5}),
        response(message("") | {TOKEN_IDS: [7, 8]}, **CUT, usage=None),
        # What `inference_provider` makes of a reply whose provider neither counts nor shows its reasoning.
        response(message("") | {"status": "incomplete"}, **CUT, usage=None),
        response(**CUT, usage=None),
        response(message(""), status="incomplete", incomplete_details={"reason": "content_filter"}, usage=None),
        response(message(""), status="completed", usage={"output_tokens": 0}),
    ],
)
def test_a_budget_that_reasoning_ate_and_any_other_empty_reply_is_a_turn(answer):
    assert checked_response(answer) is answer
