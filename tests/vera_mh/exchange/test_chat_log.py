# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Conversations as chatbots log them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera_mh.errors import ChatLogError
from vera_mh.exchange.chat_log import ChatLog, parse_chat_logs
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT

HI = {"role": "user", "content": "hi"}
HELLO = {"role": "assistant", "content": "hello"}


def said(log: ChatLog) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.response) for turn in log.turns]


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ([HI, HELLO], [None]),
        ({"messages": [HI, HELLO]}, [None]),
        ({"id": "a", "messages": [HI, HELLO], "model": "x"}, ["a"]),
        ({"conversation_id": 7, "messages": [HI, HELLO]}, ["7"]),
        ([[HI, HELLO], {"id": "b", "messages": [HI, HELLO]}], [None, "b"]),
        (
            {"id": "c", "conversation": [{"speaker": "persona", "response": "hi"}, {"speaker": "provider", "response": "hello"}]},
            ["c"],
        ),
    ],
)
def test_a_list_an_object_around_it_and_a_list_of_either_are_read(value, ids):
    logs = parse_chat_logs(value)
    assert [log.id for log in logs] == ids
    assert all(said(log) == [(PERSONA, "hi"), (PROVIDER, "hello")] for log in logs)


ROLES = {"user": PERSONA, "Human": PERSONA, "assistant": PROVIDER, "chatbot": PROVIDER, "model": PROVIDER}


@given(st.lists(st.tuples(st.sampled_from(list(ROLES)), st.text()), min_size=1))
def test_each_message_is_a_turn_word_for_word_also_where_one_side_speaks_twice(messages):
    (log,) = parse_chat_logs([{"role": role, "content": text} for role, text in messages])
    assert said(log) == [(ROLES[role], text) for role, text in messages]
    assert [turn.turn for turn in log.turns] == list(range(1, len(messages) + 1))
    assert [turn.input for turn in log.turns] == [START_PROMPT, *(text for _, text in messages[:-1])]


def test_what_the_chatbot_was_told_is_its_system_prompt_and_no_turn():
    (log,) = parse_chat_logs(
        [{"role": "system", "content": "Be kind."}, HI, {"role": "developer", "content": "And brief."}, HELLO]
    )
    assert log.system_prompt == "Be kind.\n\nAnd brief."
    assert len(log.turns) == 2


def test_calls_of_tools_and_their_answers_are_left_out_and_counted():
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    (log,) = parse_chat_logs([HI, call, {"role": "tool", "content": "22 degrees"}, HELLO])
    assert (said(log), log.unseen) == ([(PERSONA, "hi"), (PROVIDER, "hello")], 2)


def test_parts_of_text_are_joined_and_no_content_is_an_empty_turn():
    parts = [{"type": "output_text", "text": "hel"}, {"type": "text", "text": "lo"}]
    (log,) = parse_chat_logs([{"role": "user", "content": None}, {"role": "assistant", "content": parts}])
    assert said(log) == [(PERSONA, ""), (PROVIDER, "hello")]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ([], "a list of messages"),
        ("hi", "a list of messages"),
        ({"role": "user", "content": "hi"}, "a single message"),
        ({"text": "hi"}, "has no `messages`"),
        ([HI, {"content": "hi"}], "neither a conversation nor a message"),
        ([HI, [HI]], "neither a conversation nor a message"),
        ([{"role": "system", "content": "Be kind."}], "no message of the user or of the chatbot"),
        ({"messages": []}, "no message of the user or of the chatbot"),
        ({"messages": ["hi"]}, "message 1 is no object"),
        ([HI, {"role": "narrator", "content": "hm"}], "message 2 has the role 'narrator'; known: user,"),
        ([HI, {"role": "assistant"}], "message 2 has no `content` that is text"),
        ([{"role": "user", "content": 5}], "message 1 has no `content` that is text"),
        ([{"role": "user", "content": [{"type": "image_url"}]}], "message 1 holds a part of the type 'image_url'"),
        ([{"role": "user", "content": [{"type": "text"}]}], "message 1 has no `content` that is text"),
        ([[HI], [{"role": "narrator"}]], "entry 2: message 1 has the role"),
        ({"conversation": [{"speaker": "me"}]}, "conversation[0]"),
        ({"conversation": []}, "has no turns"),
    ],
)
def test_what_cannot_be_read_is_named(value, complaint):
    with pytest.raises(ChatLogError, match=re.escape(complaint)):
        parse_chat_logs(value)
