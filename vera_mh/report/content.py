# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a page is made of: a run, as whoever keeps its files hands it over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from vera_mh.models import Json, Row
from vera_mh.rubric import Question


@dataclass(frozen=True, slots=True)
class Failure:
    """A rollout without a score: how often it was attempted, and what the last attempt left."""

    attempts: int
    last: Row


@dataclass(frozen=True, slots=True)
class RunContent:
    """A run.

    Attributes:
        name: What it is called, such as the name of its rollouts file.
        rows: Gives the scored rows, by task and repeat; read anew each time, so that they need not fit into memory.
        row: Gives one of them, by its `row_key`.
        record: What was run, as the host wrote it down; empty if nobody did.
        planned: Rollouts of the run; None if nobody knows.
        failures: What has no score.
        questions: Question id -> question of the rubric that judged it; empty if its pack is not at hand.
        cost: What the run took: `tables` and `notes`, as `Usage.summary` gives them.
    """

    name: str
    rows: Callable[[], Iterable[Row]]
    row: Callable[[str], Row]
    record: Json = field(default_factory=dict)
    planned: int | None = None
    failures: Sequence[Failure] = ()
    questions: Mapping[str, Question] = field(default_factory=dict)
    cost: Json = field(default_factory=dict)


def row_key(row: Row) -> str:
    """Names a conversation within its run, and within a link."""
    return f"{row.get('_ng_task_index') or 0}-{row.get('_ng_rollout_index') or 0}"
