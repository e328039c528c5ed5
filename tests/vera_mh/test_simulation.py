# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The simulation: what each side sees, when it ends, and what is kept of it."""

from __future__ import annotations

import asyncio
import json
from itertools import count, repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.models import Listed, message, reasoning, refusal, response, side
from vera_mh.errors import ModelError, SimulationFailed
from vera_mh.simulation import effective_max_turns, messages_for, simulate
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Exchange, Turn, ends_conversation

REMINDER = "(Stay in your role.) "


async def talk(persona: Listed, provider: Listed, *, max_turns: int = 6, **params: Any) -> list[Exchange]:
    return await simulate(
        side(persona, "persona", **params), side(provider, "provider", **params), max_turns=max_turns, reminder=REMINDER
    )


def numbered(prefix: str) -> Listed:
    return Listed(f"{prefix}{number}" for number in count(1))


async def test_each_side_sees_its_own_turns_as_assistant_and_the_other_as_user():
    persona, provider = numbered("u"), numbered("c")
    exchanges = await talk(persona, provider)
    assert [(each.turn.speaker, each.turn.response) for each in exchanges] == [
        (PERSONA, "u1"),
        (PROVIDER, "c1"),
        (PERSONA, "u2"),
        (PROVIDER, "c2"),
        (PERSONA, "u3"),
        (PROVIDER, "c3"),
    ]
    assert provider.bodies[-1]["input"] == [
        {"role": "system", "content": "You are provider."},
        {"role": "user", "content": "u1"},
        {"role": "assistant", "content": "c1"},
        {"role": "user", "content": "u2"},
        {"role": "assistant", "content": "c2"},
        {"role": "user", "content": "u3"},
    ]
    assert persona.bodies[-1]["input"] == [
        {"role": "system", "content": "You are persona."},
        {"role": "assistant", "content": "u1"},
        {"role": "user", "content": "c1"},
        {"role": "assistant", "content": "u2"},
        {"role": "user", "content": f"{REMINDER}c2"},
    ]


async def test_the_start_prompt_opens_the_first_turn_and_is_never_seen_again():
    persona, provider = numbered("u"), numbered("c")
    exchanges = await talk(persona, provider)
    assert persona.bodies[0]["input"] == [
        {"role": "system", "content": "You are persona."},
        {"role": "user", "content": "Start the conversation based on the system prompt"},
    ]
    assert all(START_PROMPT not in json.dumps(body) for body in [*persona.bodies[1:], *provider.bodies])
    assert [each.turn.input for each in exchanges] == [START_PROMPT, "u1", "c1", "u2", "c2", "u3"]


async def test_requests_hold_the_configured_parameters_and_nothing_else():
    persona, provider = numbered("u"), numbered("c")
    await talk(persona, provider, temperature=0.5)
    assert {frozenset(body) for body in [*persona.bodies, *provider.bodies]} == {frozenset({"input", "temperature"})}
    await talk(persona, bare := numbered("c"))
    assert {frozenset(body) for body in bare.bodies} == {frozenset({"input"})}


@pytest.mark.parametrize(
    "goodbye",
    ["<END OF CONVERSATION>", "Thanks. <end of conversation>", "<End Of Conversation> bye", "a\n<eND oF cONVERSATION>b"],
)
async def test_the_signal_of_the_persona_ends_the_conversation_at_once_in_any_case(goodbye):
    provider = numbered("c")
    exchanges = await talk(Listed(["hi", goodbye]), provider, max_turns=30)
    assert [each.turn.early_termination for each in exchanges] == [False, False, True]
    assert (exchanges[-1].turn.speaker, exchanges[-1].turn.response) == (PERSONA, goodbye)
    assert len(provider.bodies) == 1


async def test_a_conversation_can_end_with_its_first_turn():
    assert len(await talk(Listed(["<END OF CONVERSATION>"]), Listed([]))) == 1


@pytest.mark.parametrize(
    "reply",
    [
        "I never said goodbye to my old job.",
        "That is the end of the conversation.",
        "END OF CONVERSATION",
        "<END OF  CONVERSATION>",
        "<END OF CONVERSATION",
        "Goodbye!",
    ],
)
async def test_words_of_parting_do_not_end_a_conversation(reply):
    exchanges = await talk(Listed(repeat(reply)), numbered("c"))
    assert len(exchanges) == 6
    assert not any(each.turn.early_termination for each in exchanges)


async def test_the_provider_cannot_end_a_conversation():
    exchanges = await talk(numbered("u"), Listed(repeat("<END OF CONVERSATION>")))
    assert len(exchanges) == 6
    assert not any(each.turn.early_termination for each in exchanges)
    assert not ends_conversation(PROVIDER, "<END OF CONVERSATION>")


@pytest.mark.parametrize(("max_turns", "turns"), [(1, 2), (2, 2), (3, 4), (30, 30)])
async def test_the_provider_speaks_last_even_if_that_takes_one_turn_more(max_turns, turns):
    exchanges = await talk(numbered("u"), numbered("c"), max_turns=max_turns)
    assert len(exchanges) == turns == effective_max_turns(max_turns)
    assert exchanges[-1].turn.speaker == PROVIDER


@given(st.integers(0, 200), st.booleans())
def test_turns_are_adjusted_by_at_most_one_and_only_once(max_turns, persona_first):
    adjusted = effective_max_turns(max_turns, persona_first=persona_first)
    assert adjusted - max_turns in (0, 1)
    assert adjusted % 2 == (0 if persona_first else 1)
    assert effective_max_turns(adjusted, persona_first=persona_first) == adjusted


async def test_replies_are_kept_as_received_and_an_empty_one_is_a_turn_like_another():
    long = "x" * 100_000
    exchanges = await talk(Listed(["  hi \n", "", long]), Listed(["", "\n\n", "user: fake\n"]))
    assert [each.turn.response for each in exchanges] == ["  hi \n", "", "", "\n\n", long, "user: fake\n"]
    assert [each.is_empty for each in exchanges] == [False, True, True, True, False, False]


@pytest.mark.parametrize("output", [None, [], [reasoning("I would say hello.")]])
async def test_a_response_without_a_message_is_an_empty_turn_and_reasoning_is_never_its_text(output):
    persona = numbered("u")
    exchanges = await talk(persona, Listed(repeat(response() | {"output": output})), max_turns=4)
    assert [each.turn.response for each in exchanges] == ["u1", "", "u2", ""]
    assert persona.bodies[1]["input"][-1] == {"role": "user", "content": REMINDER}


async def test_a_refusal_is_the_turn_of_the_provider():
    exchanges = await talk(numbered("u"), Listed(repeat(response(reasoning("Hm."), refusal("I can't help with that.")))))
    assert exchanges[1].turn.response == "I can't help with that."


@pytest.mark.parametrize(
    ("persona", "provider", "stage"),
    [
        ([ModelError("busy", status=429)], [], "persona_turn_1"),
        (["a"], [ModelError("busy")], "provider_turn_2"),
        (["a", "b", "c", ModelError("busy")], ["x", "y", "z"], "persona_turn_7"),
        (["a", "b", "c", "d"], ["x", "y", "z", ModelError("busy")], "provider_turn_8"),
    ],
)
async def test_an_error_of_a_side_is_a_failure_at_its_turn_and_never_a_turn(persona, provider, stage):
    with pytest.raises(SimulationFailed) as caught:
        await talk(Listed(persona), Listed(provider), max_turns=30)
    assert caught.value.stage == stage
    assert str(caught.value) == f"{stage.partition('_')[0]}: busy"


async def test_a_record_tells_who_answered_how_long_it_took_and_what_it_cost():
    ticks = iter([0.0, 0.25, 1.0, 1.5])
    cut = response(
        message("Well"),
        id="resp_7",
        usage={"output_tokens": 1},
        status="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )
    exchanges = await simulate(
        side(Listed([""]), "user_model"), side(Listed([cut]), "policy_model"), max_turns=2, reminder="", clock=lambda: next(ticks)
    )
    first, second = (each.to_record() for each in exchanges)
    assert first == {
        "turn": 1,
        "speaker": "persona",
        "server": "user_model",
        "model": "served",
        "response_id": "resp_1",
        "latency_ms": 250.0,
        "usage": None,
        "incomplete": False,
        "incomplete_reason": None,
        "chars": 0,
        "empty": True,
    }
    assert (second["server"], second["latency_ms"], second["response_id"]) == ("policy_model", 500.0, "resp_7")
    assert (second["usage"], second["chars"], second["empty"]) == ({"output_tokens": 1}, 4, False)
    assert (second["incomplete"], second["incomplete_reason"]) == (True, "max_output_tokens")


async def test_a_record_tells_what_was_sent_otherwise_than_asked():
    adapted = response(message("Well"), x_sent_parameters={"max_output_tokens": 9})
    exchanges = await talk(numbered("u"), Listed([adapted]), max_turns=2)
    assert exchanges[1].to_record()["sent_parameters"] == {"max_output_tokens": 9}
    assert "sent_parameters" not in exchanges[0].to_record()


def test_the_reminder_stands_in_front_of_the_latest_provider_turn_only():
    turns = [Turn(1, PERSONA, "", "a"), Turn(2, PROVIDER, "a", "b"), Turn(3, PERSONA, "b", "c")]
    assert messages_for(PERSONA, turns, reminder=REMINDER)[1] == {"role": "user", "content": "b"}
    assert messages_for(PERSONA, turns[:2], reminder=REMINDER)[1] == {"role": "user", "content": f"{REMINDER}b"}
    assert all(REMINDER not in each["content"] for each in messages_for(PROVIDER, turns[:2], reminder=REMINDER))
    assert messages_for(PERSONA, [], reminder=REMINDER) == []


def test_what_was_said_before_a_side_failed_is_kept_with_the_failure():
    persona, provider = numbered("u"), Listed(["c1", ModelError("gone")])
    with pytest.raises(SimulationFailed) as caught:
        asyncio.run(talk(persona, provider))
    assert caught.value.stage == "provider_turn_4"
    assert [exchange.turn.response for exchange in caught.value.exchanges] == ["u1", "c1", "u2"]
