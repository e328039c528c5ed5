# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One conversation as it is read: its turns, its ratings, and the judge's path, without what only machines need."""

from __future__ import annotations

from vera_mh.errors import RowError
from vera_mh.models import Json, Row, mappings
from vera_mh.report.content import mapping, row_key, text_of
from vera_mh.report.decisive import deciding_questions
from vera_mh.rollout import turns_of_row
from vera_mh.score import conversation_score


def reading(row: Row) -> Json:
    """What the page shows of one scored row."""
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
        "turns": _turns(row, simulation),
        "ratings": [_rating(row, dimension) for dimension in row["ratings"]],
        **_judging(row),
    }


def _turns(row: Row, simulation: Row) -> list[Json]:
    try:
        turns = turns_of_row(row)
    except RowError:  # Rows reduced to what the metrics read have no conversation, and are shown without one.
        return []
    records = {text_of(record.get("turn")): record for record in mappings(simulation.get("turn_records"))}
    shown = []
    for turn in turns:
        record = records.get(text_of(turn.turn), {})
        usage = mapping(record.get("usage"))
        entry = {
            "turn": turn.turn,
            "speaker": turn.speaker,
            "text": turn.response,
            "ended": turn.early_termination,
            "empty": not turn.response.strip(),
            "cut": text_of(record.get("incomplete_reason")) or "unknown reason" if record.get("incomplete") else "",
            "model": text_of(record.get("model")),
            "ms": record.get("latency_ms"),
            "tokens": usage.get("output_tokens"),
        }
        shown.append(_said(entry))
    return shown


def _rating(row: Row, dimension: str) -> Json:
    reasoning = text_of(mapping(row.get("rating_reasoning")).get(dimension))
    return {
        "dimension": dimension,
        "rating": row["ratings"][dimension],
        "reasoning": reasoning,
        "decided": deciding_questions(row, dimension),
    }


def _judging(row: Row) -> Json:
    """The path with the receipts of each step, and what was asked ahead and not needed."""
    receipts = mappings(row.get("judge_receipts"))
    calls: dict[str, list[Row]] = {}
    for receipt in receipts:
        if not receipt.get("speculative"):
            calls.setdefault(text_of(receipt.get("question_id")), []).append(receipt)
    path = mappings(row.get("question_path"))
    return {
        "path": [_step(entry, calls.get(text_of(entry.get("question_id")), [])) for entry in path],
        "ahead": [_ahead(receipt) for receipt in receipts if receipt.get("speculative")],
    }


def _step(entry: Row, calls: list[Row]) -> Json:
    answer, raw = text_of(entry.get("answer")), text_of(entry.get("raw_answer"))
    step = {
        "id": text_of(entry.get("question_id")),
        "dimension": text_of(entry.get("dimension")),
        "answer": answer,
        "raw": raw if raw != answer else "",
        "fallback": bool(entry.get("fallback")),
        "reasoning": text_of(entry.get("reasoning")),
        "goto": text_of(entry.get("goto")),
        "next": text_of(entry.get("next_question_id")),
        "special": bool(entry.get("special_case")),
        # The last call's reply is the answer and the reasoning; those before it could not be read.
        "calls": [_call(call, said=number < len(calls) - 1) for number, call in enumerate(calls)],
    }
    return _said(step)


def _ahead(receipt: Row) -> Json:
    return {"id": text_of(receipt.get("question_id")), **_call(receipt, said=True)}


def _call(receipt: Row, *, said: bool) -> Json:
    usage = mapping(receipt.get("usage"))
    call = {
        "model": text_of(receipt.get("judge_model")),
        "attempt": receipt.get("attempt"),
        "finish": text_of(receipt.get("finish_reason")),
        "read": usage.get("prompt_tokens"),
        "written": usage.get("completion_tokens"),
        "response": text_of(receipt.get("response_id")),
        "prompt": text_of(receipt.get("prompt_sha256"))[:12],
        "said": text_of(receipt.get("content")) if said else "",
    }
    return _said(call)


def _said(entry: Json) -> Json:
    """An entry without what says nothing."""
    return {name: value for name, value in entry.items() if value not in (None, "", False, [])}
