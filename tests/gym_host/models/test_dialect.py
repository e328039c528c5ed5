# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Responses to chat completions and back."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response

from gym_host.models.dialect import chat_body_from_responses, response_from_chat
from gym_host.models.errors import RequestError

FULL_USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 7,
    "total_tokens": 18,
    "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


def messages_of(items: Any, **params: Any) -> Any:
    return chat_body_from_responses({"input": items, **params})["messages"]


def response_to(message: Any, *, finish_reason: Any = "stop", params: Any = None, **reply: Any) -> dict[str, Any]:
    """The Responses object for one message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    body = {"id": "chatcmpl-1", "created": 1_767_225_600, "model": "m-served", "usage": FULL_USAGE, "choices": [choice], **reply}
    return response_from_chat(params or {}, body)


def parts_of(response: dict[str, Any]) -> Any:
    return [part for item in response["output"] if item["type"] == "message" for part in item["content"]]


def test_a_text_is_one_user_message():
    assert messages_of("Hello") == [{"role": "user", "content": "Hello"}]


def test_instructions_come_first_as_the_system_message():
    messages = messages_of([{"role": "user", "content": "Hello"}], instructions="Be brief.")
    assert messages == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]


def test_messages_keep_their_order_and_the_developer_is_the_system():
    items = [
        {"role": "developer", "content": "Be brief."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hel"}, {"type": "text", "text": "lo"}]},
        {"role": "assistant", "content": ""},
    ]
    assert messages_of(items) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": ""},
    ]


def test_an_output_that_is_fed_back_gives_its_text_or_refusal_and_no_reasoning():
    said = response_to({"content": "Hi", "reasoning_content": "Hm."})["output"]
    refused = response_to({"content": None, "refusal": "I can't help with that."})["output"]
    assert messages_of([*said, *refused]) == [
        {"role": "assistant", "content": "Hi"},
        {"role": "assistant", "content": "I can't help with that."},
    ]


def test_calls_of_one_turn_stand_in_one_message_and_outputs_follow():
    items = [
        {"role": "user", "content": "Weather?"},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "Oslo"}'},
        {"type": "function_call", "call_id": "c2", "name": "look", "arguments": ""},
        {"type": "function_call_output", "call_id": "c1", "output": "Rain"},
    ]
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "Oslo"}'}},
        {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
    ]
    assert messages_of(items)[1:] == [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "Rain"},
    ]


def test_an_image_keeps_its_place_among_the_parts():
    part = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}
    [message] = messages_of([{"role": "user", "content": [{"type": "input_text", "text": "This?"}, part]}])
    assert message["content"] == [
        {"type": "text", "text": "This?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}},
    ]


def test_parameters_get_their_chat_names_and_others_pass():
    schema = {"type": "object", "properties": {}}
    tool = {"type": "function", "name": "look", "description": None, "parameters": schema, "strict": True}
    body = chat_body_from_responses(
        {
            "model": "ignored",
            "input": "Hello",
            "temperature": 0,
            "top_p": None,
            "max_output_tokens": 99,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "A", "schema": schema, "strict": True}, "verbosity": "low"},
            "tools": [tool],
            "tool_choice": {"type": "function", "name": "look"},
            "parallel_tool_calls": False,
            "top_logprobs": 2,
            "store": False,
            "truncation": "disabled",
            "metadata": {"a": "b"},
            "service_tier": "on_demand",
            "prompt_cache_key": "c1",
            "user": "u",
            "seed": 7,
            "stop": ["\n"],
            "top_k": 5,
        }
    )
    assert body == {
        "messages": [{"role": "user", "content": "Hello"}],
        "temperature": 0,
        "max_tokens": 99,
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "A", "schema": schema, "strict": True}},
        "verbosity": "low",
        "tools": [{"type": "function", "function": {"name": "look", "parameters": schema, "strict": True}}],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "parallel_tool_calls": False,
        "top_logprobs": 2,
        "logprobs": True,
        "metadata": {"a": "b"},
        "service_tier": "on_demand",
        "prompt_cache_key": "c1",
        "user": "u",
        "seed": 7,
        "stop": ["\n"],
        "top_k": 5,
    }


def test_a_choice_among_no_tools_is_not_sent():
    params = {
        "input": "Hi",
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "text": {"format": {"type": "text"}},
    }
    assert chat_body_from_responses(params) == {"messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "input"),
        ({"input": 3}, "input"),
        ({"input": []}, "input"),
        ({"input": ["Hello"]}, "input[0]"),
        ({"input": [{"role": "narrator", "content": "Hello"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": None}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input[0].content[0]"),
        ({"input": [{"type": "web_search_call", "id": "w"}]}, "input[0].type"),
        ({"input": "Hello", "stream": True}, "stream"),
        ({"input": "Hello", "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"input": "Hello", "reasoning": "low"}, "reasoning"),
        ({"input": "Hello", "tools": [{"type": "web_search"}]}, "tools[0].type"),
    ],
)
def test_what_cannot_be_carried_over_is_named(params, field):
    with pytest.raises(RequestError) as caught:
        chat_body_from_responses(params)
    assert caught.value.field == field


def test_a_reply_becomes_a_response_that_openai_reads():
    tool = {"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": True}
    params = {"input": "Hello", "temperature": 0.5, "tools": [tool], "reasoning": {"effort": "low"}, "metadata": {"a": "b"}}
    message = {"content": "Hi", "reasoning": "Hm.", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]}
    raw = response_to(message, params=params, service_tier="default")
    response = Response.model_validate(raw, strict=True)
    assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
    assert (response.output_text, response.status, response.model) == ("Hi", "completed", "m-served")
    assert (response.id, response.created_at, response.temperature) == ("resp_chatcmpl-1", 1_767_225_600, 0.5)
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (11, 7, 18)
    assert response.usage.input_tokens_details.cached_tokens == 3
    assert response.usage.output_tokens_details.reasoning_tokens == 5


@pytest.mark.parametrize("tier", ["standard", "on_demand", "", None, 3, {"name": "flex"}])
def test_03_a_service_tier_that_openai_does_not_know_does_not_break_the_response(tier):
    response = response_to({"content": "Hi"}, service_tier=tier)
    assert Response.model_validate(response).service_tier is None


def test_04_unknown_usage_stays_unknown():
    assert response_to({"content": "Hi"}, usage=None)["usage"] is None
    assert response_to({"content": "Hi"}, usage={"prompt_tokens": None, "completion_tokens": None})["usage"] is None
    partly = {"prompt_tokens": 11, "completion_tokens": None, "prompt_tokens_details": None}
    assert response_to({"content": "Hi"}, usage=partly)["usage"] == {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": None, "cache_write_tokens": None},
        "output_tokens": None,
        "output_tokens_details": {"reasoning_tokens": None},
        "total_tokens": None,
    }


@pytest.mark.parametrize("odd", ["12", -1, 1.5, True, float("nan"), float("inf"), 1e300, [12], {}])
def test_04_what_is_no_count_of_tokens_is_unknown_and_leaves_the_other_counts(odd):
    details = {"prompt_tokens_details": {"cached_tokens": odd}, "completion_tokens_details": {"reasoning_tokens": odd}}
    usage = response_to({"content": "Hi"}, usage=FULL_USAGE | details | {"prompt_tokens": odd, "total_tokens": odd})["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["total_tokens"]) == (None, 7, None)
    assert usage["input_tokens_details"]["cached_tokens"] is None
    assert usage["output_tokens_details"]["reasoning_tokens"] is None


def test_04_a_count_that_is_written_as_a_float_counts():
    usage = response_to({"content": "Hi"}, usage={"prompt_tokens": 12.0, "completion_tokens": 3, "total_tokens": None})["usage"]
    assert orjson.dumps([usage["input_tokens"], usage["total_tokens"]]) == b"[12,15]"


@pytest.mark.parametrize("calls", [True, "look", {"id": "c1"}, ["look"]])
def test_tool_calls_that_are_no_list_of_calls_are_none(calls):
    assert [item["type"] for item in response_to({"content": "Hi", "tool_calls": calls})["output"]] == ["message"]


def test_a_tool_call_without_a_readable_function_or_id_can_still_be_answered():
    [call] = response_to({"content": None, "tool_calls": [{"id": {}, "function": "look"}]})["output"]
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "", "")
    assert call["call_id"] == call["id"]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_05_reasoning_that_ate_the_budget_leaves_an_empty_truncated_message(field):
    response = response_to({"content": None, field: "I wonder"}, finish_reason="length")
    assert parts_of(response) == [{"type": "output_text", "text": "", "annotations": []}]
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert response["output"][0]["summary"] == [{"type": "summary_text", "text": "I wonder"}]
    assert Response.model_validate(response).output_text == ""


def test_06_a_refusal_is_the_message():
    response = response_to({"content": None, "refusal": "I can't help"})
    assert parts_of(response) == [{"type": "refusal", "refusal": "I can't help"}]
    assert response["status"] == "completed"
    Response.model_validate(response)


@pytest.mark.parametrize(
    ("finish_reason", "details"),
    [
        ("stop", None),
        ("eos", None),
        (None, None),
        (3, None),
        ("LENGTH", {"reason": "max_output_tokens"}),
        ("content_filter", {"reason": "content_filter"}),
    ],
)
def test_06_finish_reasons_are_read_and_unknown_ones_do_no_harm(finish_reason, details):
    response = response_to({"content": "Hi"}, finish_reason=finish_reason)
    assert response["incomplete_details"] == details
    Response.model_validate(response)


def test_content_in_parts_is_joined_and_its_thinking_set_apart():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    response = response_to({"content": [thinking, {"type": "text", "text": "H"}, {"type": "text", "text": "i"}]})
    assert parts_of(response)[0]["text"] == "Hi"
    assert response["output"][0]["summary"][0]["text"] == "Hm."


def test_log_probabilities_are_kept():
    token = {"token": "Hi", "bytes": [72, 105], "logprob": -0.1, "top_logprobs": []}
    choice = {"message": {"content": "Hi"}, "finish_reason": "stop", "logprobs": {"content": [token]}}
    response = response_from_chat({}, {"choices": [choice]})
    assert parts_of(response)[0]["logprobs"] == [token]
    Response.model_validate(response)


TEXT = st.text(max_size=50)


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant"]), TEXT), min_size=1, max_size=8))
def test_messages_survive_the_way_there_whole(turns):
    messages = [{"role": role, "content": text} for role, text in turns]
    assert messages_of(messages) == messages
    as_parts = [{"role": role, "content": [{"type": "input_text", "text": text}]} for role, text in turns]
    assert messages_of(as_parts) == messages


@given(text=st.none() | TEXT, refusal=st.none() | TEXT, reasoning=st.none() | TEXT, finish_reason=st.none() | TEXT)
def test_a_reply_fed_back_is_what_the_model_said_and_never_what_it_thought(text, refusal, reasoning, finish_reason):
    message = {"content": text, "refusal": refusal, "reasoning_content": reasoning}
    response = response_to(message, finish_reason=finish_reason)
    assert Response.model_validate(orjson.loads(orjson.dumps(response))).output_text == (text or "")
    [fed_back] = messages_of(response["output"])
    assert fed_back == {"role": "assistant", "content": (text or "") + (refusal or "")}


LEAF = st.none() | st.booleans() | st.integers() | TEXT
ANYTHING = st.recursive(LEAF, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner))


@given(odd=ANYTHING, extra=st.dictionaries(st.sampled_from(sorted(FULL_USAGE)), ANYTHING))
def test_whatever_stands_beside_the_text_of_a_reply_the_text_arrives(odd, extra):
    beside = {"tool_calls": [{"function": odd, "id": odd}], "reasoning": odd, "refusal": None}
    for usage in (odd, FULL_USAGE | extra):
        response = response_to(
            {"content": "Hi", **beside}, finish_reason=odd, usage=usage, service_tier=odd, created=odd, model=odd, logprobs=odd
        )
        assert parts_of(response)[0]["text"] == "Hi"
        Response.model_validate(response | {"usage": None})
    assert parts_of(response_to({"content": "Hi", "tool_calls": odd}))[0]["text"] == "Hi"


@given(ANYTHING)
def test_any_input_is_either_carried_over_or_refused_by_name(value):
    for params in ({"input": value}, {"input": [value]}, {"input": [{"role": "user", "content": value}]}):
        try:
            place = "input" if chat_body_from_responses(params)["messages"] else "nothing"
        except RequestError as error:
            place = error.field
        assert place.startswith("input")
