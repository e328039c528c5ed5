# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Conversations that are there already, as rows that a verifier judges.

Such a row says only what is known: who spoke with the chatbot where a persona is known, and the turns. What a simulation would
have left on record is not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vera_mh.exchange.upstream_names import Named
from vera_mh.models import Json
from vera_mh.transcript import render_transcript
from vera_mh.turns import PERSONA, Turn


@dataclass(frozen=True, slots=True)
class Recorded:
    """One conversation.

    Attributes:
        id: What it is called.
        source: The file that it stands in, and where in it.
        turns: The turns.
        system_prompt: What the chatbot was told beforehand, if that is known.
        named: What its name says of persona and user simulator, if it says anything.
    """

    id: str
    source: str
    turns: Sequence[Turn]
    system_prompt: str | None = None
    named: Named | None = None


def recorded_row(conversation: Recorded, index: int) -> Json:
    """The row of a conversation, as a host dispatches it to be judged.

    Args:
        conversation: The conversation.
        index: Its number among all, from 0.
    """
    prompt = conversation.system_prompt
    known = _of_persona(conversation.named) if conversation.named else {}
    return {
        "_ng_task_index": index,
        "_ng_rollout_index": 0,
        "id": conversation.id,
        "recorded_in": conversation.source,
        **known,
        "responses_create_params": {"input": [] if prompt is None else [{"role": "system", "content": prompt}]},
        # Kept beside the response, from which turns of one side in a row and the mark of an early end could not be told.
        "conversation": [turn.to_json() for turn in conversation.turns],
    }


def recorded_rollout(row: Json, turns: Sequence[Turn]) -> Json:
    """The row with the conversation as the rollout of a run holds it, before it is judged.

    Args:
        row: The row of the conversation.
        turns: Its turns.
    """
    return {
        **row,
        "response": {
            "id": f"resp_recorded_{row['_ng_task_index']}",
            "object": "response",
            "created_at": 0,
            "model": "",
            "status": "completed",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": [_item(turn) for turn in turns],
        },
        "transcript": render_transcript(turns),
        "turn_count": len(turns),
        "early_termination": any(turn.early_termination for turn in turns),
    }


def _of_persona(named: Named) -> Json:
    persona = named.persona
    return {
        "persona_index": persona.index,
        "persona_name": persona.name,
        "persona_sha256": persona.digest,
        "user_simulator": named.user_simulator,
        "risk_level": persona.risk_level,
        "disclosure_level": persona.disclosure_level,
    }


def _item(turn: Turn) -> Json:
    if turn.speaker == PERSONA:
        return {"type": "message", "role": "user", "content": turn.response}
    return {
        "type": "message",
        "id": f"msg_{turn.turn}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": turn.response, "annotations": []}],
    }
