# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""From a dataset to the rows that are dispatched: limit, repeats, overrides, and what a row must say of itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel

from gym_host.config.request_params import PARAMS
from gym_host.errors import UserError
from gym_host.jsonl import Json, read_lines
from gym_host.runs.keys import ROLLOUT_INDEX, TASK_INDEX, key_of
from gym_host.runs.row_check import row_fault, together
from gym_host.wording import counted

MOST_ROLLOUTS = 1_000_000
"""Rollouts of one run, which is as many as have room in the memory of a small machine."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a dataset becomes rows.

    Attributes:
        agent: Name of the agent instance that runs them.
        task_source: Name of the instance that declared the dataset.
        limit: Tasks at the most, or None for all.
        num_repeats: Rollouts of each task.
        interleave_repeats: Dispatch round by round, rather than each task's rollouts back to back.
        params: Merged into each row's `responses_create_params`.
        row_type: What the agent takes as a row; None if it does not say.
    """

    agent: str
    task_source: str
    limit: int | None = None
    num_repeats: int = 1
    interleave_repeats: bool = False
    params: Mapping[str, Any] | None = None
    row_type: type[BaseModel] | None = None


def materialize(dataset: Path, plan: Plan) -> list[Json]:
    """The rows as they are dispatched.

    Raises:
        UserError: The dataset cannot be read, has no rows or too many, a row lacks `responses_create_params` or cannot be run by
            the agent, or two have the same `id`.
    """
    seen: dict[str, int] = {}
    faults: dict[str, UserError] = {}
    tasks = []
    for line in islice(read_lines(dataset), plan.limit):
        task = _with_params(_checked(dataset, line.number, line.value, seen), plan)
        if fault := row_fault(task, plan.row_type):
            faults[f"{dataset}, line {line.number}"] = fault
        tasks.append(task)
    if faults:
        raise together(faults)
    if not tasks:
        raise UserError(f"{dataset} has no rows", mend="prepare the dataset again, or name another with --input")
    rollouts = len(tasks) * plan.num_repeats
    if rollouts > MOST_ROLLOUTS:
        raise UserError(
            f"{rollouts:,} rollouts are too many for one run, which takes {MOST_ROLLOUTS:,}",
            where=f"{counted(len(tasks), 'row')}, {plan.num_repeats:,} rollouts of each",
            mend="lower --num-repeats, or --limit",
        )
    return [_row(tasks[task], task, rollout, plan) for task, rollout in _order(len(tasks), plan)]


def _order(tasks: int, plan: Plan) -> Iterator[tuple[int, int]]:
    if plan.interleave_repeats:
        return ((task, rollout) for rollout, task in product(range(plan.num_repeats), range(tasks)))
    return product(range(tasks), range(plan.num_repeats))


def _checked(dataset: Path, number: int, row: Json, seen: dict[str, int]) -> Json:
    """The row, if it is one; `seen` holds the ids of the rows before it, and their lines."""
    if not isinstance(row.get("responses_create_params"), dict):
        raise UserError("a row lacks `responses_create_params`", where=f"{dataset}, line {number}", mend="repair the row")
    if row.get("id") is not None:
        first = seen.setdefault(repr(row["id"]), number)
        if first != number:
            raise UserError(
                f"the id {row['id']!r} stands twice, so the row would count twice",
                where=f"{dataset}, lines {first} and {number}",
                mend="remove one of them; --num-repeats N runs every row N times",
            )
    return row


def _with_params(task: Json, plan: Plan) -> Json:
    return {**task, PARAMS: {**task[PARAMS], **(plan.params or {})}}


def _row(task: Json, task_index: int, rollout_index: int, plan: Plan) -> Json:
    return {
        **task,
        TASK_INDEX: task_index,
        ROLLOUT_INDEX: rollout_index,
        "agent_ref": {"name": plan.agent},
        "task_source": plan.task_source,
    }


def described(rows: Sequence[Json]) -> Json:
    """What is said of the rows in the identity of a run, so that a difference can be named and not only noticed."""
    params = [row["responses_create_params"] for row in rows]
    shared = {key: value for key, value in params[0].items() if key != "input" and all(p.get(key) == value for p in params)}
    return {
        "tasks": len({row[TASK_INDEX] for row in rows}),
        "num_repeats": len({row[ROLLOUT_INDEX] for row in rows}),
        "responses_create_params": shared,
        "sha256": rows_sha256(rows),
    }


def rows_sha256(rows: Iterable[Json]) -> str:
    """SHA-256 over the rows by key, each as JSON with sorted keys: what was dispatched, whatever its file looks like.

    In which order is no part of it: nothing of a rollout depends on when it is its turn.
    """
    digest = hashlib.sha256()
    for row in sorted(rows, key=key_of):
        digest.update(orjson.dumps(row, option=orjson.OPT_SORT_KEYS))
        digest.update(b"\n")
    return digest.hexdigest()
