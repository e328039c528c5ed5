# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run as a log of Inspect, for `inspect view` and whatever else reads such logs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalMetric,
    EvalResults,
    EvalSample,
    EvalScore,
    EvalSpec,
    EvalStats,
    write_eval_log,
)
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ModelOutput
from inspect_ai.scorer import Score

from gym_host.exports.flat import make_folder, seconds
from gym_host.jsonl import Json
from gym_host.runs.run_record import RunRecord, now
from gym_host.runs.stored_run import StoredRun

Status = Literal["success", "cancelled"]

_MESSAGES: Mapping[str, type[ChatMessageSystem | ChatMessageUser | ChatMessageAssistant]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


def write_log(run: StoredRun, samples: Iterable[Json], results: Mapping[str, Mapping[str, float]], output: Path) -> int:
    """Writes a log as a whole.

    Args:
        run: The run.
        samples: Its conversations: `id`, `epoch`, `messages`, `scores`, `metadata`, `model`, `error`.
        results: Name of a score -> metric -> value.
        output: The file.

    Returns:
        How many samples stand in it.
    """
    written = [_sample(one) for one in samples]
    log = EvalLog(
        status=_status(run.record),
        eval=_spec(run, written),
        results=EvalResults(
            total_samples=len(written),
            completed_samples=sum(one.error is None for one in written),
            scores=[_result(name, metrics) for name, metrics in results.items()],
        ),
        stats=EvalStats(started_at=_time(run.record, "started_at"), completed_at=_time(run.record, "ended_at")),
        samples=written,
    )
    make_folder(output.parent)
    unfinished = output.with_name(f".{output.stem}.unfinished{output.suffix}")
    try:
        write_eval_log(log, str(unfinished))
        unfinished.replace(output)
    finally:
        unfinished.unlink(missing_ok=True)
    return len(written)


def _status(record: Json) -> Status:
    """A run in which some rollouts failed went to its end; one that was stopped did not."""
    return "success" if record.get("status") in ("complete", "incomplete", None) else "cancelled"


def _time(record: Json, name: str) -> str:
    """A time of a record; empty if there is none, or something else stands there."""
    time = record.get(name)
    return time if isinstance(time, str) and seconds(time) is not None else ""


def _spec(run: StoredRun, samples: list[EvalSample]) -> EvalSpec:
    record = RunRecord(run.record)
    agent = record.agent or run.path.stem
    created = _time(run.record, "started_at") or now()
    ids = list(dict.fromkeys(str(one.id) for one in samples))
    return EvalSpec(
        eval_id=hashlib.sha256(f"{created} {agent} {run.path.name}".encode()).hexdigest()[:22],
        created=created,
        task=agent,
        dataset=EvalDataset(name=agent, location=str(run.files.inputs.name), samples=len(ids), sample_ids=ids),
        model=record.evaluated_model or next((one.output.model for one in samples if one.output.model), "unknown"),
        config=EvalConfig(epochs=max((one.epoch for one in samples), default=1)),
        packages={name: str(version) for name, version in record.versions.items()},
        metadata={"rollouts": run.path.name, "status": run.record.get("status"), "counts": run.record.get("counts")},
    )


def _result(name: str, metrics: Mapping[str, float]) -> EvalScore:
    return EvalScore(name=name, scorer=name, metrics={key: EvalMetric(name=key, value=value) for key, value in metrics.items()})


def _sample(one: Json) -> EvalSample:
    messages: list[ChatMessage] = [_MESSAGES[message["role"]](content=message["content"]) for message in one["messages"]]
    first = next((message["content"] for message in one["messages"] if message["role"] == "user"), "")
    said = next((message["content"] for message in reversed(one["messages"]) if message["role"] == "assistant"), "")
    return EvalSample(
        id=one["id"],
        epoch=one["epoch"],
        input=first,
        target="",
        messages=messages,
        output=ModelOutput.from_content(one["model"], said),
        scores={name: _score(score) for name, score in one["scores"].items()},
        metadata=one["metadata"],
        error=EvalError(message=one["error"], traceback="", traceback_ansi="") if one["error"] else None,
    )


def _score(score: Mapping[str, Any]) -> Score:
    return Score(value=score["value"], explanation=score["explanation"] or None, metadata=score["metadata"] or None)
