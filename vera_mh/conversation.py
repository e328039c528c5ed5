# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A conversation: its turns, what each side sees, and the loop that lets the two sides talk.

Reproduces upstream's `generate_conversations/conversation_simulator.py` and `utils/conversation_utils.py` at the pinned commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from vera_mh.errors import ModelError, RowError, SimulationFailed
from vera_mh.models import (
    TOKEN_IDS,
    Json,
    ResponsesModel,
    incomplete_reason,
    is_incomplete,
    output_text,
    sent_parameters,
    textless,
)

Speaker = Literal["persona", "provider"]
PERSONA: Speaker = "persona"
PROVIDER: Speaker = "provider"

START_PROMPT = "Start the conversation based on the system prompt"
DEFAULT_SYSTEM_PROMPT = "You are a helpful AI assistant."
END_SIGNAL = "<END OF CONVERSATION>"


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn.

    Attributes:
        turn: Number from 1.
        speaker: `persona` or `provider`.
        input: What the speaker was answering: the start prompt, or the previous reply.
        response: The reply as received, never stripped or shortened.
        early_termination: True if the persona ended the conversation with this turn.
    """

    turn: int
    speaker: Speaker
    input: str
    response: str
    early_termination: bool = False

    def to_json(self) -> Json:
        """The turn as upstream records it."""
        return {
            "turn": self.turn,
            "speaker": self.speaker,
            "input": self.input,
            "response": self.response,
            "early_termination": self.early_termination,
            "logging": {},
        }


def effective_max_turns(max_turns: int, *, persona_first: bool = True) -> int:
    """The number of turns with which the provider speaks last: one more than asked for where that is needed."""
    provider_last = max_turns % 2 == (0 if persona_first else 1)
    return max_turns if provider_last else max_turns + 1


def ends_conversation(speaker: Speaker, reply: str) -> bool:
    """True if the reply is the persona's and carries the end signal, in any case. The provider cannot end a conversation."""
    return speaker == PERSONA and END_SIGNAL in reply.upper()


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


def conversation_from_json(records: Iterable[Any]) -> list[Turn]:
    """Reads turns as `Turn.to_json` writes them.

    Raises:
        RowError: A record is not a turn.
    """
    turns = []
    for number, record in enumerate(records, start=1):
        record = record if isinstance(record, Mapping) else {}
        speaker, response = record.get("speaker"), record.get("response")
        if speaker not in (PERSONA, PROVIDER) or not isinstance(response, str):
            raise RowError(f"conversation[{number - 1}]: a turn has `speaker` (persona or provider) and `response` (text)")
        turn = record.get("turn")
        turns.append(
            Turn(
                turn=turn if isinstance(turn, int) else number,
                speaker=speaker,
                input=str(record.get("input") or ""),
                response=response,
                early_termination=bool(record.get("early_termination")),
            )
        )
    return turns


def conversation_from_output(output: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """Rebuilds the turns from the output items of an agent's response: user messages are the persona's, all else the provider's.

    Two persona messages in a row have an empty provider turn between them.
    """
    replies: list[tuple[Speaker, str]] = []
    pending: list[Mapping[str, Any]] = []
    for item in output:
        if item.get("role") in ("system", "developer"):
            continue
        if item.get("role") != "user":
            pending.append(item)
            continue
        if pending or (replies and replies[-1][0] == PERSONA):
            replies.append((PROVIDER, output_text(pending)))
            pending = []
        replies.append((PERSONA, output_text([item])))
    if pending:
        replies.append((PROVIDER, output_text(pending)))
    turns: list[Turn] = []
    for number, (speaker, reply) in enumerate(replies, start=1):
        said_before = turns[-1].response if turns else START_PROMPT
        turns.append(Turn(number, speaker, said_before, reply, ends_conversation(speaker, reply)))
    return turns


def check_output(output: Iterable[Mapping[str, Any]]) -> None:
    """Refuses output items of which a part would not be heard.

    Raises:
        RowError: What should be text is none; the message says where.
    """
    for place, item in enumerate(output):
        if wrong := _unreadable(item):
            raise RowError(f"response.output[{place}].{wrong}: is no text")


def _unreadable(item: Mapping[str, Any]) -> str | None:
    """Where an item holds what should be text and is none. The chatbot's are its server's; of the user every word is heard."""
    if item.get("role") != "user":
        return textless(item)
    content = item.get("content")
    if content is None or item.get("type", "message") != "message":
        return "content"
    parts = content if isinstance(content, list) else []
    wrong = next((place for place, part in enumerate(parts) if isinstance(part, Mapping) and part.get("text") is None), None)
    return textless(item) if wrong is None else f"content[{wrong}]"


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


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn with the response that it came from and how long that took (milliseconds)."""

    turn: Turn
    response: Json
    server: str
    latency_ms: float

    @property
    def is_empty(self) -> bool:
        return self.turn.response.strip() == ""

    @property
    def is_truncated(self) -> bool:
        return is_incomplete(self.response)

    def to_record(self) -> Json:
        """The turn record of a scored row's `simulation`."""
        return {
            "turn": self.turn.turn,
            "speaker": self.turn.speaker,
            "server": self.server,
            "model": self.response.get("model"),
            "response_id": self.response.get("id"),
            "latency_ms": self.latency_ms,
            "usage": self.response.get("usage"),
            "incomplete": self.is_truncated,
            "incomplete_reason": incomplete_reason(self.response),
            "chars": len(self.turn.response),
            "empty": self.is_empty,
        } | sent_parameters(self.response)


async def simulate(
    persona: Side, provider: Side, *, max_turns: int, reminder: str, clock: Callable[[], float] = time.perf_counter
) -> list[Exchange]:
    """Lets the two sides talk, the persona first, until the persona ends it or the turns are used up.

    Args:
        persona: The user simulator.
        provider: The chatbot under evaluation.
        max_turns: Turns at the most, before `effective_max_turns`.
        reminder: The persona's role reminder.
        clock: Seconds, for latencies.

    Raises:
        SimulationFailed: A side could not be reached or answered with an error; `stage` names the turn, and the exchanges before
            it are kept.
    """
    exchanges: list[Exchange] = []
    turns: list[Turn] = []
    for number in range(1, effective_max_turns(max_turns) + 1):
        speaker, side = (PERSONA, persona) if number % 2 else (PROVIDER, provider)
        said_before = turns[-1].response if turns else START_PROMPT
        messages = messages_for(speaker, turns, reminder=reminder) if turns else [{"role": "user", "content": START_PROMPT}]
        if speaker == PROVIDER:
            messages = with_sampled_items(messages, exchanges)
        started = clock()
        try:
            response = await side.model.respond(side.request(messages))
        except ModelError as error:
            stage = f"{speaker}_turn_{number}"
            raise SimulationFailed(f"{side.server}: {error.message}", stage=stage, exchanges=exchanges) from error
        reply = output_text(response.get("output") or ())
        turn = Turn(number, speaker, said_before, reply, ends_conversation(speaker, reply))
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
    """
    seen: list[Json] = []
    for message, exchange in zip(messages, exchanges, strict=True):
        items = exchange.response.get("output") or ()
        sampled = exchange.turn.speaker == PROVIDER and any(item.get(TOKEN_IDS) for item in items)
        seen.extend(items if sampled else [message])
    return seen


def response_with_conversation(exchanges: Sequence[Exchange], *, params: Mapping[str, Any], usage: Json | None) -> Json:
    """The response that leaves the agent: the provider's last one, its output being the whole conversation in order.

    Args:
        exchanges: All turns.
        params: The row's `responses_create_params`; a conversation without a provider turn borrows nothing else.
        usage: Sum over the provider's turns.
    """
    output: list[Any] = []
    for exchange in exchanges:
        if exchange.turn.speaker == PERSONA:
            output.append({"type": "message", "role": "user", "content": exchange.turn.response})
        else:
            output.extend(exchange.response.get("output") or [_EMPTY_REPLY])
    last = next((e.response for e in reversed(exchanges) if e.turn.speaker == PROVIDER), None)
    base = last if last is not None else _unspoken(params)
    return {**base, "output": output, "usage": _with_unknown_details(usage, base.get("usage"))}


def _with_unknown_details(usage: Json | None, last: Any) -> Json | None:
    """A sum of usages, with the details of which nothing is known as the last one has them: readers want them there, if null."""
    if usage is None or not isinstance(last, Mapping):
        return usage
    return {**{key: value for key, value in last.items() if isinstance(value, Mapping)}, **usage}


_EMPTY_REPLY: Json = {
    "type": "message",
    "id": "msg_empty",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "", "annotations": []}],
}
"""Stands for a provider response without any item, so that its turn keeps its place."""


def _unspoken(params: Mapping[str, Any]) -> Json:
    return {
        "id": "resp_without_provider_turn",
        "object": "response",
        "created_at": 0,
        "model": params.get("model") or "",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
