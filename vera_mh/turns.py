# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A turn of a conversation, alone and with the response that it came from, and how both are written into a row.

A turn reproduces what upstream's `generate_conversations/conversation_simulator.py` records, at the pinned commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vera_mh.errors import RowError
from vera_mh.models import Json
from vera_mh.responses import incomplete_reason, is_incomplete, sent_parameters

Speaker = Literal["persona", "provider"]
PERSONA: Speaker = "persona"
PROVIDER: Speaker = "provider"

START_PROMPT = "Start the conversation based on the system prompt"
"""What the first turn answers."""

END_SIGNAL = "<END OF CONVERSATION>"
"""With this the persona ends the conversation."""


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


def ends_conversation(speaker: Speaker, reply: str) -> bool:
    """True if the reply is the persona's and carries the end signal, in any case. The provider cannot end a conversation."""
    return speaker == PERSONA and END_SIGNAL in reply.upper()


def next_input(turns: Sequence[Turn]) -> str:
    """What the next turn answers: the reply before it, or the start prompt."""
    return turns[-1].response if turns else START_PROMPT


def next_turn(turns: Sequence[Turn], speaker: Speaker, reply: str) -> Turn:
    """The turn that a reply makes after the turns so far."""
    return Turn(len(turns) + 1, speaker, next_input(turns), reply, ends_conversation(speaker, reply))


def conversation_from_json(records: Iterable[Any]) -> list[Turn]:
    """Reads turns as `Turn.to_json` writes them; a turn without a number gets its place, from 1.

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


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn with the response that it came from.

    Attributes:
        turn: The turn.
        response: The Responses object that holds its reply.
        server: Name of the model server that answered.
        latency_ms: How long the answer took, in milliseconds.
    """

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
