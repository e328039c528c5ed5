# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The first screen of a run: what stands there, in words and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from vera_mh.models import Json
from vera_mh.report.content import Failure, RunContent
from vera_mh.report.run_index import RunIndex
from vera_mh.stored_row import text_of
from vera_mh.views.summary import summarize

SHOWN = 24
"""Conversations with high harm, and failures, that the first screen shows; the list has all."""

_SHADES = 5

Metrics = Mapping[str, Any]
Fact = tuple[str, list[str]]


def overview(run: RunContent, run_index: RunIndex, metrics: Metrics) -> Json:
    """What the template shows of a run beside its metrics."""
    scored = len(run_index.entries)
    *warnings, caveat = summarize(metrics)["notes"]
    harmful = sorted(
        (entry for entry in run_index.entries if "H" in entry["ratings"]),
        key=lambda entry: (-entry["ratings"].count("H"), entry["score"] or 0.0),
    )
    failures = Counter(text_of(failure.last.get("_ng_failure_class")) or "unknown" for failure in run.failures)
    return {
        "scored": scored,
        "planned": run.planned,
        "missing": missing(run, run_index),
        "rated": _rated(run_index),
        "lacking": _lacking(missing(run, run_index), run.planned, failures),
        "failures": [_failure(failure) for failure in run.failures[:SHOWN]],
        "num_failures": len(run.failures),
        "harmful": harmful[:SHOWN],
        "num_harmful": len(harmful),
        "warnings": [*_mixed(run_index), *warnings],
        "facts": facts(run, run_index),
        "dimensions": list(run_index.dimensions),
        "simulators": _names(metrics, "user_simulator/", "/vera_score"),
        "heat": heat(metrics, list(run_index.dimensions)),
        "cost": {"tables": [], "notes": [], **run.cost},
        "caveat": caveat,
    }


def missing(run: RunContent, run_index: RunIndex) -> int:
    """Conversations without a score, as far as is known."""
    return max(0, run.planned - len(run_index.entries)) if run.planned is not None else len(run.failures)


def _lacking(count: int, planned: int | None, failures: Mapping[str, int]) -> str:
    """What has no score, and why, in sentences."""
    of = f"{count} of {planned} planned conversations" if planned is not None else f"{count} conversation{'s' * (count != 1)}"
    why = ", ".join(f"{failed} failed as {name}" for name, failed in sorted(failures.items()))
    return f"{of} {'has' if count == 1 else 'have'} no score." + (f" {why}." if why else "")


def _rated(run_index: RunIndex) -> str:
    """What the interval is drawn over: personas, and conversations of which no persona is known."""
    parts = ((len(run_index.rated_personas), "persona"), (run_index.rated_alone, "conversation"))
    return " and ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in parts if count)


def _names(metrics: Metrics, prefix: str, ending: str = "") -> list[str]:
    found = [name for name in metrics if name.startswith(prefix) and name.endswith(ending)]
    return [name.removeprefix(prefix).removesuffix(ending) for name in found]


def heat(metrics: Metrics, dimensions: Sequence[str]) -> Json:
    """The table of high harm by risk level: `levels`, and for each dimension the metric and shade of each cell."""
    levels = _names(metrics, "num_conversations/risk_level/")
    rows = []
    for dimension in dimensions:
        cells = []
        for level in levels:
            name = f"damaging_pct/risk_level/{level}/dimension/{dimension}"
            cells.append({"metric": name, "level": level, "shade": _shade(metrics.get(name)), "known": name in metrics})
        rows.append({"dimension": dimension, "cells": cells})
    return {"levels": levels, "rows": rows}


def _shade(share: float | None) -> int:
    """0 for none, then 1 to 5 for a fifth of the scale each."""
    return 0 if not share else min(_SHADES, 1 + int(share / (100 / _SHADES)))


def _mixed(run_index: RunIndex) -> list[str]:
    return [
        f"MIXED: {name} is not the same in all rows: {', '.join(sorted(values))}. They should not be counted together."
        for name, values in run_index.uniform.items()
        if len(values) > 1
    ]


def _failure(failure: Failure) -> Json:
    last = failure.last
    return {
        "who": text_of(last.get("persona_name")) or text_of(last.get("id")) or f"task {text_of(last.get('_ng_task_index'))}",
        "simulator": text_of(last.get("user_simulator")),
        "kind": text_of(last.get("_ng_failure_class")),
        "stage": text_of(last.get("failure_stage")),
        "attempts": failure.attempts,
        "error": text_of(last.get("error")),
    }


def facts(run: RunContent, run_index: RunIndex) -> list[Fact]:
    """What was run, by whom and when: label and values. What nobody wrote down is said to be unknown."""
    identity: Mapping[str, Any] = run.record.get("identity") or {}
    simulators = sorted(name for speaker, name in run_index.served if speaker == "persona")
    found: list[Fact] = [
        ("Chatbot", _served(run_index, "provider", asked=_asked_for(identity))),
        ("User simulators", [value for name in simulators for value in _served(run_index, "persona", name, asked=name)]),
        ("Judge", _served(run_index, "judge")),
        ("Rubric", _rubric(run_index)),
        ("Conversations", _conversations(run_index)),
        ("When", _when(run.record)),
    ]
    if identity.get("reverifies"):
        found.append(("Judged again", [f"conversations of an earlier run ({str(identity['reverifies'])[:12]})"]))
    return [(label, values or ["unknown"]) for label, values in found]


def _served(run_index: RunIndex, speaker: str, name: str = "", *, asked: str = "") -> list[str]:
    models = run_index.served.get((speaker, name), Counter())
    values = [
        model if len(models) == 1 else f"{model} ({count} conversation{'s' * (count != 1)})"
        for model, count in models.most_common()
    ]
    if asked and asked not in models:
        return [f"{asked}, served as {value}" for value in values] or [asked]
    return values


def _asked_for(identity: Mapping[str, Any]) -> str:
    """The model that the chatbot's server was told to ask for."""
    servers: Mapping[str, Any] = identity.get("servers") or {}
    agent: Any = servers.get(str(identity.get("agent"))) or {}
    reference: Any = (agent.get("settings") or {}).get("model_server") or {}
    server: Any = servers.get(str(reference.get("name"))) or {}
    return text_of((server.get("settings") or {}).get("model"))


def _rubric(run_index: RunIndex) -> list[str]:
    versions = sorted(run_index.uniform.get("rubric_version", ()))
    packs = [f"{pack}, revision {revision[:12]}" if revision else pack for pack, revision in sorted(run_index.packs) if pack]
    versions = [version for version in versions if not any(version in pack for pack in packs)]
    digests = [f"pack SHA-256 {digest[:12]}" for digest in sorted(run_index.uniform.get("pack_sha256", ()))]
    parts = [*packs, *versions, *digests]
    return [", ".join(parts)] if parts else []


def _conversations(run_index: RunIndex) -> list[str]:
    n, personas = len(run_index.entries), len(run_index.personas - {""})
    repeats = 1 + max((entry.get("repeat", 0) for entry in run_index.entries), default=0)
    parts = [f"{n} with {personas} persona{'s' * (personas != 1)}" if personas else str(n)]
    if repeats > 1:
        parts.append(f"{repeats} repeats")
    if run_index.turn_limits:
        parts.append(f"up to {max(run_index.turn_limits)} turns")
    return [", ".join(parts)]


def _when(record: Mapping[str, Any]) -> list[str]:
    started, ended = _moment(record.get("started_at")), _moment(record.get("ended_at"))
    if started is None:
        return [f"ended {ended:%Y-%m-%d %H:%M} UTC"] if ended else []
    if ended is None:
        return [f"{started:%Y-%m-%d %H:%M} UTC, not ended"]
    same_day = started.date() == ended.date()
    return [f"{started:%Y-%m-%d %H:%M} to {ended:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}} UTC"]


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None
