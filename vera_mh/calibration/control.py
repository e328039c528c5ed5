# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a control is made of: what is asked of upstream, how its answer is held against ours, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vera_mh.models import Json, Row

ABSENT = "(absent)"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One value in which we and upstream differ.

    Attributes:
        conversation: The conversation, or "" for a value over all of them.
        field: The value.
        ours: What the run or the library has.
        upstream: What upstream's code has.
    """

    conversation: str
    field: str
    ours: Any
    upstream: Any

    def to_json(self) -> Json:
        return {"conversation": self.conversation, "field": self.field, "ours": self.ours, "upstream": self.upstream}


@dataclass(slots=True)
class Control:
    """What an exact control came to.

    Attributes:
        name: Its name.
        counts: What was compared -> how many.
        mismatches: All differences.
    """

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    mismatches: list[Mismatch] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return not self.mismatches

    def to_json(self) -> Json:
        mismatches = [mismatch.to_json() for mismatch in self.mismatches]
        return {"exact": True, "agrees": self.agrees, "compared": dict(self.counts), "mismatches": mismatches}


def conversation_label(row: Row) -> str:
    """What a conversation is called in a finding: the id of its row, with the rollout (`#1`) where it is not the first."""
    rollout = row.get("_ng_rollout_index") or 0
    return f"{row.get('id', '')}#{rollout}" if rollout else str(row.get("id", ""))


def differing(conversation: str, place: str, ours: Mapping[str, Any], upstream: Mapping[str, Any]) -> Iterator[Mismatch]:
    """The keys in which two flat mappings differ, or which only one of them has."""
    for key in dict.fromkeys([*ours, *upstream]):
        one, other = ours.get(key, ABSENT), upstream.get(key, ABSENT)
        if one != other:
            yield Mismatch(conversation, f"{place}{key}", one, other)
