# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A conversation as the output items of one response, written and read back."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.models import exchanges_of, message, reasoning, refusal, response
from vera_mh.errors import RowError
from vera_mh.models import Json
from vera_mh.output_items import check_output, conversation_from_output, response_with_conversation
from vera_mh.transcript import render_transcript
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Exchange, Turn, conversation_from_json, ends_conversation


def test_the_response_that_leaves_holds_the_whole_conversation_in_order_and_the_items_untouched():
    thought = reasoning("Hm.") | {"encrypted_content": "abc"}
    said = message("c1") | {"prompt_token_ids": [1, 2], "generation_token_ids": [3], "generation_log_probs": [-0.1]}
    exchanges = exchanges_of("u1", response(thought, said, id="resp_first"), "u2", response(message("c2"), id="resp_last"))
    leaving = response_with_conversation(exchanges, params={"model": "m"}, usage={"output_tokens": 5})
    assert leaving["output"] == [
        {"type": "message", "role": "user", "content": "u1"},
        thought,
        said,
        {"type": "message", "role": "user", "content": "u2"},
        message("c2"),
    ]
    assert {key: leaving[key] for key in ("id", "model", "usage")} == {
        "id": "resp_last",
        "model": "served",
        "usage": {"output_tokens": 5},
    }


@pytest.mark.parametrize("output", [None, []])
def test_a_response_without_any_item_leaves_an_empty_message_in_its_place(output):
    exchanges = exchanges_of("u1", response())
    exchanges[1].response["output"] = output
    leaving = response_with_conversation(exchanges, params={}, usage=None)
    assert leaving["output"][1] == message("") | {"id": "msg_empty"}


@pytest.mark.parametrize("params", [{"model": "m"}, {}])
def test_the_response_of_a_conversation_without_a_provider_turn_has_all_that_a_response_must_have(params):
    leaving = response_with_conversation(exchanges_of("<END OF CONVERSATION>"), params=params, usage=None)
    assert leaving == {
        "id": "resp_without_provider_turn",
        "object": "response",
        "created_at": 0,
        "model": params.get("model", ""),
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [{"type": "message", "role": "user", "content": "<END OF CONVERSATION>"}],
        "usage": None,
    }


def _could_have_been_simulated(turns: list[Turn]) -> bool:
    """Whether the persona began, the sides took turns, and nothing came after the persona's end signal."""
    return (
        bool(turns)
        and all(turn.speaker == (PERSONA, PROVIDER)[index % 2] for index, turn in enumerate(turns))
        and all(turn.early_termination == ends_conversation(turn.speaker, turn.response) for turn in turns)
        and not any(turn.early_termination for turn in turns[:-1])
    )


def _shape(text: str, number: int) -> list[Json]:
    """One of the outputs with which a provider may say a text."""
    shapes = [[message(text)], [reasoning("Hm."), message(text)], [message(text[:3]), message(text[3:])], [refusal(text)]]
    shapes += [[], [reasoning("Hm.")]] if text == "" else []
    return shapes[number % len(shapes)]


def test_every_recorded_conversation_is_rebuilt_from_the_output_of_the_response(golden_folder):
    with (golden_folder / "conversations.jsonl").open("rb") as lines:
        recorded = [conversation_from_json(json.loads(line)["conversation"]) for line in lines]
    simulated = list(filter(_could_have_been_simulated, recorded))
    assert len(simulated) > 100
    for turns, number in product(simulated, range(6)):
        exchanges = [Exchange(turn, response(*_shape(turn.response, number)), "server", 1.0) for turn in turns]
        again = conversation_from_output(response_with_conversation(exchanges, params={}, usage=None)["output"])
        # The recordings have another start prompt.
        assert again == [replace(turns[0], input=START_PROMPT), *turns[1:]]
        assert render_transcript(again) == render_transcript(turns)


TEXTS = st.one_of(st.just(""), st.text(max_size=20), st.just("chatbot: \n<end of conversation>"))


@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_any_conversation_is_rebuilt_from_the_output_of_the_response(texts):
    output = response_with_conversation(exchanges_of(*texts), params={}, usage=None)["output"]
    assert [turn.response for turn in conversation_from_output(output)] == texts


def test_two_persona_messages_in_a_row_have_an_empty_provider_turn_between_them():
    output = [{"type": "message", "role": "user", "content": text} for text in "ab"]
    assert [(turn.speaker, turn.response) for turn in conversation_from_output(output)] == [
        (PERSONA, "a"),
        (PROVIDER, ""),
        (PERSONA, "b"),
    ]


def test_a_system_message_in_the_output_is_nobodys_turn():
    output = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "a"}, message("b")]
    assert [(turn.speaker, turn.response) for turn in conversation_from_output(output)] == [("persona", "a"), ("provider", "b")]


@pytest.mark.parametrize(
    ("item", "place"),
    [
        ({"role": "user", "content": 3}, "content"),
        ({"role": "user", "content": None}, "content"),
        ({"role": "user"}, "content"),
        ({"role": "user", "type": "input_text", "text": "hi"}, "content"),
        ({"role": "user", "content": ["hi", {"type": "input_image", "image_url": "x"}]}, "content[1]"),
        ({"role": "assistant", "content": 3}, "content"),
        ({"role": "assistant", "content": [None]}, "content[0]"),
    ],
)
def test_what_should_be_text_and_is_none_is_refused_by_its_place(item, place):
    with pytest.raises(RowError) as caught:
        check_output([{"role": "user", "content": "hi"}, item])
    assert str(caught.value) == f"response.output[1].{place}: is no text"


def test_details_of_usage_of_which_nothing_is_known_stay_in_the_sum_as_they_came():
    known = {"output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 2}}
    usage = known | {"input_tokens_details": {"cached_tokens": None}}
    exchanges = exchanges_of("u1", response(message("c1"), usage=usage))
    assert response_with_conversation(exchanges, params={}, usage=known)["usage"] == usage
    assert response_with_conversation(exchanges, params={}, usage=None)["usage"] is None
