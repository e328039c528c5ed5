# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One conversation as it is read: its turns, its ratings, and the judge's path, without what only machines need."""

from __future__ import annotations

from vera_mh.models import Json, Row
from vera_mh.report.content import row_key
from vera_mh.report.decisive import deciding_questions
from vera_mh.score import conversation_score
from vera_mh.stored_row import StoredStep, StoredTurn, mapping, mappings, path_of, reason_of, text_of, turns_of


def conversation_view(row: Row) -> Json:
    """What a page shows of one scored row.

    Returns:
        Plain JSON, texts as they came. What says nothing (null, blank, false or empty) is left out of turns, steps and calls.
    """
    simulation = mapping(row.get("simulation"))
    return {
        "key": row_key(row),
        "id": text_of(row.get("id")),
        "persona": text_of(row.get("persona_name")),
        "simulator": text_of(row.get("user_simulator")),
        "risk": text_of(row.get("risk_level")),
        "sheet": [[str(name), text_of(value)] for name, value in mapping(row.get("persona")).items()],
        "prompt": text_of(simulation.get("provider_system_prompt")),
        "score": conversation_score(row["ratings"]),
        "judge": text_of(row.get("judge_model")),
        "simulated": bool(simulation),
        "turns": [_turn(turn) for turn in turns_of(row)],
        "ratings": [_rating(row, dimension, rating) for dimension, rating in row["ratings"].items()],
        **_judging(row),
    }


def _turn(turn: StoredTurn) -> Json:
    entry = {
        "turn": turn.number,
        "speaker": turn.speaker,
        "text": turn.text,
        "ended": turn.ended,
        "empty": turn.empty,
        "cut": turn.cut,
        "model": text_of(turn.record.get("model")),
        "ms": turn.record.get("latency_ms"),
        "tokens": mapping(turn.record.get("usage")).get("output_tokens"),
    }
    return _without_blanks(entry)


def _rating(row: Row, dimension: str, rating: str) -> Json:
    return {
        "dimension": dimension,
        "rating": rating,
        "reasoning": reason_of(row, dimension),
        "decided": deciding_questions(row, dimension),
    }


def _judging(row: Row) -> Json:
    """The path with the receipts of each step, and what was asked ahead and not needed."""
    receipts = mappings(row.get("judge_receipts"))
    calls: dict[str, list[Row]] = {}
    for receipt in receipts:
        if not receipt.get("speculative"):
            calls.setdefault(text_of(receipt.get("question_id")), []).append(receipt)
    return {
        "path": [_step(step, calls.get(step.question, [])) for step in path_of(row)],
        "ahead": [_ahead(receipt) for receipt in receipts if receipt.get("speculative")],
    }


def _step(step: StoredStep, calls: list[Row]) -> Json:
    entry = {
        "id": step.question,
        "dimension": step.dimension,
        "answer": step.answer,
        "raw": step.raw if step.raw != step.answer else "",
        "fallback": step.fallback,
        "reasoning": step.reasoning,
        "goto": step.goto,
        "next": step.following,
        "special": step.special,
        # The last call's reply is the answer and the reasoning; those before it could not be read.
        "calls": [_call(call, with_content=number < len(calls) - 1) for number, call in enumerate(calls)],
    }
    return _without_blanks(entry)


def _ahead(receipt: Row) -> Json:
    return {"id": text_of(receipt.get("question_id")), **_call(receipt, with_content=True)}


def _call(receipt: Row, *, with_content: bool) -> Json:
    usage = mapping(receipt.get("usage"))
    call = {
        "model": text_of(receipt.get("judge_model")),
        "attempt": receipt.get("attempt"),
        "finish": text_of(receipt.get("finish_reason")),
        "read": usage.get("prompt_tokens"),
        "written": usage.get("completion_tokens"),
        "response": text_of(receipt.get("response_id")),
        "prompt": text_of(receipt.get("prompt_sha256"))[:12],
        "said": text_of(receipt.get("content")) if with_content else "",
    }
    return _without_blanks(call)


def _without_blanks(entry: Json) -> Json:
    """An entry without what says nothing."""
    return {name: value for name, value in entry.items() if value not in (None, "", False, [])}
