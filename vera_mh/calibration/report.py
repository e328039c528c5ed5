# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a calibration: tables, the first differences, and what it does not say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from vera_mh.calibration import live
from vera_mh.calibration.control import Control, Mismatch
from vera_mh.views.summary import Table

SHOWN_MISMATCHES = 5
CAVEAT = "A control that agrees says that this code decides as upstream's does. It says nothing of the chatbot."

_BEFORE, _LONGEST = 20, 80


def tables(exact: Sequence[Control], agreement: live.Agreement | None) -> list[Table]:
    """The controls that were run, with how much was compared and how much differs."""
    found: list[Table] = []
    if exact:
        rows = [[f"{control.name}: {_listed(control.counts)}", str(len(control.mismatches)), _word(control)] for control in exact]
        columns = ["Exact controls, and what was compared", "Differences", ""]
        found.append({"title": "Calibration", "columns": columns, "rows": rows})
    if agreement is not None:
        same, total = agreement.same, agreement.total
        rows = [[name, f"{same[name]} of {n}", f"{100 * same[name] / n:.1f}%"] for name, n in total.items()]
        found.append({"title": "Live: the same rating", "columns": ["Dimension", "Conversations", "Share"], "rows": rows})
    return found


def notes(exact: Sequence[Control], agreement: live.Agreement | None) -> Iterator[str]:
    """The first differences of each control, in words."""
    for control in exact:
        yield from _first(control.name, control.mismatches)
    if agreement is not None:
        of = agreement.judged + len(agreement.failed)
        yield f"live: upstream's judge judged {agreement.judged} of {of} conversations"
        yield from _first(live.NAME, agreement.mismatches)
    yield CAVEAT


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _word(control: Control) -> str:
    return "agrees" if control.agrees else "DISAGREES"


def _first(name: str, mismatches: Sequence[Mismatch]) -> Iterator[str]:
    for mismatch in mismatches[:SHOWN_MISMATCHES]:
        place = f"{mismatch.conversation}: {mismatch.field}" if mismatch.conversation else mismatch.field
        ours, upstreams = _excerpts(mismatch.ours, mismatch.upstream)
        yield f"{name}: {place}: ours {ours}, upstream's {upstreams}"
    if len(mismatches) > SHOWN_MISMATCHES:
        yield f"{name}: and {len(mismatches) - SHOWN_MISMATCHES} more"


def _excerpts(one: object, other: object) -> tuple[str, str]:
    """Two values as they are shown: from a little before the first character in which they differ."""
    texts = repr(one), repr(other)
    start = max(0, len(os.path.commonprefix(texts)) - _BEFORE)
    return _excerpt(texts[0], start), _excerpt(texts[1], start)


def _excerpt(text: str, start: int) -> str:
    before, after = "..." if start else "", "..." if len(text) > start + _LONGEST else ""
    return f"{before}{text[start : start + _LONGEST]}{after}"
