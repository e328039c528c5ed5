# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A stored row as it is shown: its turns, the judge's path, and why it was rated so.

Files of rows are edited, cut down to some fields, or made by other programs. What counts a row or judges it is strict
(`vera_mh.metrics.check_row`, `vera_mh.rollout.turns_of_row`); what only shows it takes what can be read and leaves out the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vera_mh.models import Row
from vera_mh.output_items import conversation_from_output
from vera_mh.turns import PERSONA, PROVIDER


def text_of(value: Any) -> str:
    """A field as text; empty where there is none."""
    return "" if value is None else str(value)


def mapping(value: Any) -> Mapping[str, Any]:
    """A field as an object; an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list, without what is none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn.

    Attributes:
        number: Its number; its place in the conversation where it has none.
        speaker: `persona` or `provider`; empty where it is neither.
        text: What was said.
        ended: True if the conversation ended with it by the speaker's will.
        record: What the run noted of it; empty if it noted nothing.
    """

    number: int
    speaker: str
    text: str
    ended: bool
    record: Row

    @property
    def empty(self) -> bool:
        return not self.text.strip()

    @property
    def cut(self) -> str:
        """Why it was cut short; empty if it was not."""
        return text_of(self.record.get("incomplete_reason")) or "unknown reason" if self.record.get("incomplete") else ""


@dataclass(frozen=True, slots=True)
class StoredStep:
    """A question on the judge's path, with its answer; what is not known is empty.

    Attributes:
        question: Id of the question.
        dimension: Its dimension.
        answer: The answer that counts.
        raw: What the judge said.
        fallback: True if the answer stands in for one that is no option.
        special: True if the question answers itself.
        reasoning: The judge's reason.
        goto: Where the answer leads, as the rubric has it.
        following: Id of the next question; empty at the end.
    """

    question: str
    dimension: str
    answer: str
    raw: str
    fallback: bool
    special: bool
    reasoning: str
    goto: str
    following: str


def turns_of(row: Row) -> list[StoredTurn]:
    """The turns of a row: of its `conversation`, else rebuilt from `response.output`."""
    records = {text_of(record.get("turn")): record for record in mappings(mapping(row.get("simulation")).get("turn_records"))}
    return [_turn(place, turn, records) for place, turn in enumerate(_conversation(row), start=1)]


def _conversation(row: Row) -> list[Row]:
    if row.get("conversation") is not None:
        return mappings(row["conversation"])
    output = mappings(mapping(row.get("response")).get("output"))
    return [turn.to_json() for turn in conversation_from_output(output)]


def _turn(place: int, turn: Row, records: Mapping[str, Row]) -> StoredTurn:
    number, speaker = turn.get("turn"), turn.get("speaker")
    number = number if isinstance(number, int) else place
    return StoredTurn(
        number=number,
        speaker=speaker if speaker in (PERSONA, PROVIDER) else "",
        text=text_of(turn.get("response")),
        ended=bool(turn.get("early_termination")),
        record=records.get(str(number), {}),
    )


def path_of(row: Row) -> list[StoredStep]:
    """The judge's path, one step for each question."""
    return [
        StoredStep(
            question=text_of(step.get("question_id")),
            dimension=text_of(step.get("dimension")),
            answer=text_of(step.get("answer")),
            raw=text_of(step.get("raw_answer")),
            fallback=bool(step.get("fallback")),
            special=bool(step.get("special_case")),
            reasoning=text_of(step.get("reasoning")),
            goto=text_of(step.get("goto")),
            following=text_of(step.get("next_question_id")),
        )
        for step in mappings(row.get("question_path"))
    ]


def reason_of(row: Row, dimension: str) -> str:
    """Why a dimension was rated as it was."""
    return text_of(mapping(row.get("rating_reasoning")).get(dimension))


def models_of(row: Row, speaker: str) -> list[str]:
    """The models as served that spoke on a side, in the order in which they did so first."""
    records = mappings(mapping(row.get("simulation")).get("turn_records"))
    models = (text_of(record.get("model")) for record in records if record.get("speaker") == speaker)
    return list(dict.fromkeys(model for model in models if model))
