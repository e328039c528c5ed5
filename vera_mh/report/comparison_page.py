# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page of two runs side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from vera_mh.models import Json
from vera_mh.report.content import RunContent
from vera_mh.report.conversation_view import conversation_view
from vera_mh.report.embedding import PER_BLOCK, block_scripts, json_script
from vera_mh.report.overview import facts, missing
from vera_mh.report.page import page
from vera_mh.report.run_index import RunIndex
from vera_mh.report.run_page import questions_json

SCRIPTS = ("dom.js", "store.js", "filters.js", "list.js", "chat.js", "judging.js", "routing.js", "pairs.js")

SHOWN = 12
"""Conversations that the first screen shows; the list has all."""

_WORSE_TO_BETTER = "HSB"

Pair = tuple[Json, Json]
"""Entries of the same conversation in both runs."""


def comparison_page(base: RunContent, other: RunContent, found: Json) -> Iterator[str]:
    """The page of two runs, part by part.

    Args:
        base: The run to compare with.
        other: The other run.
        found: What `vera_mh.views.comparison_tables.shown_comparison` says of them.

    Raises:
        RowError: A row holds no ratings, or one that is none.
    """
    indices = _indexed(base), _indexed(other)
    dimensions = list(indices[0].dimensions | indices[1].dimensions)
    pairs = _pairs(indices, dimensions)
    changes = {(entry["id"], entry["_ng_rollout_index"]): entry["difference"] for entry in found["conversations"]}
    rows = [_entry(pair, changes) for pair in pairs]
    index = {
        "dimensions": dimensions,
        "questions": questions_json(base.questions or other.questions),
        "perBlock": PER_BLOCK,
        "names": [base.name, other.name],
        "rows": rows,
    }
    changed = sorted((row for row in rows if row["difference"]), key=lambda row: -abs(row["difference"]))
    content = {
        "title": f"{base.name} and {other.name}",
        "names": [base.name, other.name],
        "differences": found["differences"],
        "notes": found["notes"],
        "missing": [
            (run.name, count) for run, run_index in zip((base, other), indices, strict=True) if (count := missing(run, run_index))
        ],
        "facts": _both_facts((base, other), indices),
        "dimensions": dimensions,
        "moves": {dimension: _moves(pairs, place) for place, dimension in enumerate(dimensions)},
        "simulators": sorted({row["simulator"] for row in rows} - {""}),
        "num_pairs": len(rows),
        "changed": changed[:SHOWN],
        "num_changed": len(changed),
        "num_worse": sum(row["difference"] < 0 for row in changed),
        "caveat": found["caveat"],
        "index": json_script("index", index),
        "blocks": block_scripts(_both_views(base, other, pair) for pair in pairs),
    }
    yield from page("comparison.html.j2", SCRIPTS, content)


def _indexed(run: RunContent) -> RunIndex:
    run_index = RunIndex()
    for _ in run_index.watch(run.rows()):
        pass
    return run_index


def _pairs(indices: tuple[RunIndex, RunIndex], dimensions: Sequence[str]) -> list[Pair]:
    """The conversations that both runs have, in the order of the first; ratings stand in the order of `dimensions`."""
    base, other = (_by_conversation(run_index, dimensions) for run_index in indices)
    return [(entry, other[key]) for key, entry in base.items() if key in other]


def _by_conversation(run_index: RunIndex, dimensions: Sequence[str]) -> dict[tuple[str, int], Json]:
    found = {}
    for entry in run_index.complete_entries():
        letters = dict(zip(run_index.dimensions, entry["ratings"], strict=True))
        ratings = "".join(letters.get(dimension, "-") for dimension in dimensions)
        found[entry.get("id", ""), entry.get("repeat", 0)] = entry | {"ratings": ratings}
    return found


def _entry(pair: Pair, changes: dict[tuple[str, int], float | None]) -> Json:
    base, other = pair
    return {
        "key": base["key"],
        "id": base.get("id", ""),
        "persona": base.get("persona", ""),
        "simulator": base.get("simulator", ""),
        "risk": base.get("risk", ""),
        "repeat": base.get("repeat", 0),
        "ratings": base["ratings"],
        "others": other["ratings"],
        "base": base["score"],
        "other": other["score"],
        "difference": changes.get((base.get("id", ""), base.get("repeat", 0))),
    }


def _both_views(base: RunContent, other: RunContent, pair: Pair) -> Json:
    return {"base": conversation_view(base.row(pair[0]["key"])), "other": conversation_view(other.row(pair[1]["key"]))}


def _moves(pairs: Sequence[Pair], place: int) -> Json:
    """How the rating of one dimension moved, over the pairs that are rated in both runs."""
    moves: Counter[str] = Counter()
    for base, other in pairs:
        one, two = (_WORSE_TO_BETTER.find(entry["ratings"][place]) for entry in (base, other))
        if one >= 0 and two >= 0:
            moves["better" if two > one else "worse" if two < one else "same"] += 1
    return {name: moves[name] for name in ("better", "worse", "same")}


def _both_facts(
    runs: tuple[RunContent, RunContent], indices: tuple[RunIndex, RunIndex]
) -> list[tuple[str, list[str], list[str]]]:
    """What was run: label, values in base, values in the other run."""
    one, two = (dict(facts(run, run_index)) for run, run_index in zip(runs, indices, strict=True))
    return [(label, one.get(label, ["–"]), two.get(label, ["–"])) for label in {**one, **two}]
