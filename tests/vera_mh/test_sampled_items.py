# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A provider in training is given its own turns back as the items that it said them in."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.support.models import Listed, message, reasoning, response, side
from vera_mh.models import Json
from vera_mh.simulation import simulate

TOKENS: Json = {"prompt_token_ids": [1, 2], "generation_token_ids": [3], "generation_log_probs": [-0.5]}


async def provider_input(*replies: Json) -> list[Any]:
    """What a provider sees on its last turn."""
    persona = Listed(f"u{number}" for number in count(1))
    provider = Listed(list(replies))
    turns = 2 * len(replies)
    await simulate(side(persona, "persona"), side(provider, "provider"), max_turns=turns, reminder="(Stay in your role.) ")
    seen: list[Any] = provider.bodies[-1]["input"]
    return seen


async def test_turns_with_token_ids_are_given_back_whole_and_others_as_text():
    sampled = [reasoning("Hm."), message("c1") | TOKENS]
    seen = await provider_input(response(*sampled), response(message("c2")), response(message("c3")))
    assert seen == [
        {"role": "system", "content": "You are provider."},
        {"role": "user", "content": "u1"},
        *sampled,
        {"role": "user", "content": "u2"},
        {"role": "assistant", "content": "c2"},
        {"role": "user", "content": "u3"},
    ]


async def test_a_turn_of_which_no_token_was_sampled_is_given_back_as_text():
    nothing = message("") | TOKENS | {"generation_token_ids": [], "generation_log_probs": []}
    seen = await provider_input(response(nothing), response(message("c2")))
    assert seen[2] == {"role": "assistant", "content": ""}


async def test_the_persona_never_sees_them():
    persona = Listed(["u1", "u2"])
    provider = Listed([response(message("c1") | TOKENS), response(message("c2"))])
    await simulate(side(persona, "persona"), side(provider, "provider"), max_turns=4, reminder="(Stay in your role.) ")
    assert "token" not in str(persona.bodies)
