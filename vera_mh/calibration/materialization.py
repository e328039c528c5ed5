# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The control of what was said and seen: upstream's simulator plays every stored conversation again.

Each side answers with its stored turns. Held against the run are the persona, its system prompt, the messages that a side saw
before each turn, the record of each turn, where the conversation ends, and the transcript as upstream's judge reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vera_mh.calibration.control import ABSENT, Control, Mismatch, conversation_label, differing
from vera_mh.models import Json, Row
from vera_mh.simulation import messages_for
from vera_mh.transcript import render_transcript
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Turn, conversation_from_json

NAME = "materialization"
FIELDS = (
    "id",
    "_ng_rollout_index",
    "persona_name",
    "persona",
    "persona_system_prompt",
    "conversation",
    "transcript",
    "simulation.max_turns_requested",
)
"""What the control reads of a row."""

_SAID = ("turn", "speaker", "response", "early_termination")
_OF_A_TURN = (*_SAID, "input")


def request(row: Row) -> Json:
    """What upstream is given: the persona's name, the replies in order, and how many turns were asked for.

    A conversation that no simulation of ours is on record for is asked to be as long as it is.
    """
    turns = row["conversation"]
    simulation: Mapping[str, Any] = row.get("simulation") or {}
    return {
        "persona": row.get("persona_name"),
        "replies": [turn["response"] for turn in turns],
        "persona_first": not turns or turns[0]["speaker"] == PERSONA,
        "max_turns": simulation.get("max_turns_requested") or len(turns),
    }


def compare(control: Control, row: Row, answer: Json, *, reminder: str) -> None:
    """Holds upstream's answer against the run and the library.

    Args:
        control: Takes the counts and the mismatches.
        row: The scored row.
        answer: Upstream's persona `prompt`, `persona` cells, `turns`, `messages` before each turn, `transcript` and whether it
            `went_on` where the stored conversation ends.
        reminder: The persona's role reminder.
    """
    name, turns = conversation_label(row), conversation_from_json(row["conversation"])
    control.counts.update(conversations=1, turns=len(turns))
    control.mismatches += _persona(control, name, row, answer)
    simulated = bool(row.get("simulation"))
    control.mismatches += _turns(name, row["conversation"], answer["turns"], _OF_A_TURN if simulated else _SAID)
    if answer["went_on"] and simulated:
        control.mismatches.append(Mismatch(name, "end of the conversation", f"after turn {len(turns)}", "goes on"))
    control.mismatches += _messages(control, name, turns, answer["messages"], reminder)
    control.counts["transcripts"] += 1
    for field, ours in (("transcript", row["transcript"]), ("transcript (rendered anew)", render_transcript(turns))):
        if ours != answer["transcript"] and (field == "transcript" or ours != row["transcript"]):
            control.mismatches.append(Mismatch(name, field, ours, answer["transcript"]))


def _persona(control: Control, name: str, row: Row, answer: Json) -> Iterator[Mismatch]:
    if "persona_system_prompt" not in row:  # a conversation from elsewhere, with a persona that nobody knows
        return
    control.counts["persona prompts"] += 1
    if row["persona_system_prompt"] != answer["prompt"]:
        yield Mismatch(name, "persona_system_prompt", row["persona_system_prompt"], answer["prompt"] or ABSENT)
    yield from differing(name, "persona.", row.get("persona") or {}, answer["persona"] or {})


def _turns(name: str, ours: Sequence[Json], upstream: Sequence[Json], fields: Sequence[str]) -> Iterator[Mismatch]:
    if len(ours) != len(upstream):
        yield Mismatch(name, "number of turns", len(ours), len(upstream))
    for number, (one, other) in enumerate(zip(ours, upstream, strict=False), start=1):
        yield from differing(name, f"turn {number}: ", *({key: turn.get(key) for key in fields} for turn in (one, other)))


def _messages(
    control: Control, name: str, turns: Sequence[Turn], upstream: Sequence[Sequence[Json]], reminder: str
) -> Iterator[Mismatch]:
    for number, (turn, seen) in enumerate(zip(turns, upstream, strict=False), start=1):
        before = turns[: number - 1]
        side = PERSONA if turn.speaker == PERSONA else PROVIDER
        ours = messages_for(side, before, reminder=reminder) if before else [{"role": "user", "content": START_PROMPT}]
        control.counts["message lists"] += 1
        if ours != list(seen):
            yield Mismatch(name, f"messages before turn {number}", ours, list(seen))
