# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The simulation: two sides of a conversation, what each of them sees, and the loop that lets them talk.

Reproduces upstream's `generate_conversations/conversation_simulator.py` and `utils/conversation_utils.py` at the pinned commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vera_mh.errors import ModelError, SimulationFailed
from vera_mh.models import Json, ResponsesModel
from vera_mh.responses import TOKEN_IDS, output_text
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Exchange, Speaker, Turn, next_turn


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a conversation.

    Attributes:
        model: The model that speaks.
        server: Name of its model server, for the record.
        system_prompt: Its system prompt.
        params: Sampling parameters of its requests, without `input`.
    """

    model: ResponsesModel
    server: str
    system_prompt: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def request(self, messages: Iterable[Json]) -> Json:
        return {**self.params, "input": [{"role": "system", "content": self.system_prompt}, *messages]}


def effective_max_turns(max_turns: int, *, persona_first: bool = True) -> int:
    """The number of turns with which the provider speaks last: one more than asked for where that is needed.

    Args:
        max_turns: Turns asked for, those of both sides counted.
        persona_first: Whether the persona speaks first.
    """
    provider_last = max_turns % 2 == (0 if persona_first else 1)
    return max_turns if provider_last else max_turns + 1


def messages_for(speaker: Speaker, turns: Sequence[Turn], *, reminder: str) -> list[Json]:
    """What a side sees before its next turn, without its system prompt.

    Args:
        speaker: The side.
        turns: All turns so far.
        reminder: The persona's role reminder, put in front of the latest provider turn only.

    Returns:
        Messages with `role` and `content`: its own turns as `assistant`, the other's as `user`.
    """
    messages = [{"role": "assistant" if turn.speaker == speaker else "user", "content": turn.response} for turn in turns]
    if speaker == PERSONA and turns and turns[-1].speaker == PROVIDER:
        messages[-1] = {"role": "user", "content": reminder + turns[-1].response}
    return messages


async def simulate(
    persona: Side, provider: Side, *, max_turns: int, reminder: str, clock: Callable[[], float] = time.perf_counter
) -> list[Exchange]:
    """Lets the two sides talk, the persona first, until the persona ends it or the turns are used up.

    Args:
        persona: The user simulator.
        provider: The chatbot under evaluation.
        max_turns: Turns asked for, those of both sides counted; `effective_max_turns` may make them one more.
        reminder: The persona's role reminder.
        clock: Seconds, for latencies.

    Returns:
        All turns in order, each with the response that it came from.

    Raises:
        SimulationFailed: A side could not be reached or answered with an error; `stage` names the turn, and the exchanges before
            it are kept.
    """
    exchanges: list[Exchange] = []
    turns: list[Turn] = []
    for number in range(1, effective_max_turns(max_turns) + 1):
        speaker, side = (PERSONA, persona) if number % 2 else (PROVIDER, provider)
        messages = messages_for(speaker, turns, reminder=reminder) if turns else [{"role": "user", "content": START_PROMPT}]
        if speaker == PROVIDER:
            messages = with_sampled_items(messages, exchanges)
        started = clock()
        try:
            response = await side.model.respond(side.request(messages))
        except ModelError as error:
            stage = f"{speaker}_turn_{number}"
            raise SimulationFailed(f"{side.server}: {error.message}", stage=stage, exchanges=exchanges) from error
        turn = next_turn(turns, speaker, output_text(response.get("output") or ()))
        turns.append(turn)
        exchanges.append(Exchange(turn, response, side.server, round((clock() - started) * 1000, 3)))
        if turn.early_termination:
            break
    return exchanges


def with_sampled_items(messages: Iterable[Json], exchanges: Iterable[Exchange]) -> list[Json]:
    """What the provider sees, its own turns as the items that it said them in where those carry token ids.

    A model in training goes on from the very tokens that it sampled: its text, tokenized anew, may come to other tokens, and
    then the turns of a rollout do not join into the one sequence that a trainer wants. Without token ids nothing changes.

    Args:
        messages: What `messages_for` gives, one message a turn.
        exchanges: All turns so far.

    Returns:
        `input` of the provider's next request, without its system prompt: messages, and output items in place of some.
    """
    seen: list[Json] = []
    for message, exchange in zip(messages, exchanges, strict=True):
        items = exchange.response.get("output") or ()
        sampled = exchange.turn.speaker == PROVIDER and any(item.get(TOKEN_IDS) for item in items)
        seen.extend(items if sampled else [message])
    return seen
