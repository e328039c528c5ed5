# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The control of the judge: upstream's judge judges every transcript again, answered from the stored receipts.

An answer is found by the SHA-256 of the prompts that upstream sends. So the prompts have to be the run's, byte for byte; then the
same answers have to lead along the same path to the same ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vera_mh.calibration.control import ABSENT, Control, Mismatch, conversation_label
from vera_mh.judge import JudgeSheet
from vera_mh.models import Json, Row
from vera_mh.rating import UNRATED
from vera_mh.reply import JudgePrompt, read_reply

NAME = "replay"
FIELDS = (
    "id",
    "_ng_rollout_index",
    "transcript",
    "ratings",
    "rating_reasoning",
    "yes_question_ids",
    "yes_reasoning",
    "question_path",
    "judge_receipts",
)
"""What the control reads of a row."""

READ_LENIENTLY = "answers that upstream's model would not have read as they stood"

_OF_A_DIMENSION = {
    "ratings": "score",
    "yes_question_ids": "yes_question_id",
    "rating_reasoning": "reasoning",
    "yes_reasoning": "yes_reasoning",
}


def request(row: Row, sheet: JudgeSheet) -> Json:
    """What upstream is given: the transcript, and the judge's usable replies by the prompts that they answer.

    Args:
        row: The scored row.
        sheet: What the run's judge worked with.
    """
    usable = _usable(row["judge_receipts"], sheet.judge_prompt(row["transcript"]))
    return {"transcript": row["transcript"], "replies": list(usable)}


def _usable(receipts: Iterable[Mapping[str, Any]], judge_prompt: JudgePrompt) -> Iterator[Json]:
    """The replies that the judge could use, in order, those on the path first. One that it could not was asked for again."""
    for receipt in receipts:
        reply = read_reply(receipt.get("content"), judge_prompt)
        if reply is not None:
            yield {
                "prompt_sha256": receipt.get("prompt_sha256"),
                "question_id": receipt.get("question_id"),
                "content": receipt["content"],
                "answer": reply.answer,
                "reasoning": reply.reasoning,
            }


def compare(control: Control, row: Row, answer: Json) -> None:
    """Holds upstream's verdict against the run's.

    Args:
        control: Takes the counts and the mismatches.
        row: The scored row.
        answer: What upstream's judge `asked`, in order, and its `results`; or `stranger`, a prompt that the run's judge was never
            sent, at which the replay ends.
    """
    name = conversation_label(row)
    path = [step for step in row["question_path"] if not step.get("special_case")]
    asked = answer["asked"]
    control.counts.update({"conversations": 1, "judge answers": len(asked)})
    control.counts[READ_LENIENTLY] += sum(not step["as_it_stood"] for step in asked)
    stranger = answer.get("stranger")
    control.mismatches += _path(name, path, asked, whole=stranger is None)
    if stranger is not None:
        expected = f"question {path[len(asked)]['question_id']}" if len(asked) < len(path) else "no further question"
        control.mismatches.append(Mismatch(name, f"prompt {len(asked) + 1}", expected, stranger))
        return
    control.counts["dimensions"] += len(row["ratings"])
    control.mismatches += _verdict(name, row, answer["results"])


def _path(name: str, path: Sequence[Json], asked: Sequence[Json], *, whole: bool) -> Iterator[Mismatch]:
    if whole and len(path) > len(asked):
        yield Mismatch(name, "questions asked", len(path), len(asked))
    for number, step in enumerate(asked, start=1):
        ours = path[number - 1] if number <= len(path) else {}
        for key, other in (("question_id", "question_id"), ("raw_answer", "answer"), ("reasoning", "reasoning")):
            if ours.get(key) != step[other]:
                yield Mismatch(name, f"question {number}: {key}", ours.get(key, ABSENT), step[other])


def _verdict(name: str, row: Row, results: Mapping[str, Mapping[str, str]]) -> Iterator[Mismatch]:
    """Upstream names only the dimensions that were visited or marked; ours that is unrated stands for one that is not named."""
    for dimension in dict.fromkeys([*row["ratings"], *results]):
        if dimension not in results:
            if row["ratings"][dimension] != UNRATED:
                yield Mismatch(name, f"ratings/{dimension}", row["ratings"][dimension], ABSENT)
            continue
        for key, other in _OF_A_DIMENSION.items():
            ours, upstream = (row.get(key) or {}).get(dimension, ABSENT), results[dimension].get(other, ABSENT)
            if ours != upstream:
                yield Mismatch(name, f"{key}/{dimension}", ours, upstream)
