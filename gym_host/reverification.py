# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Judging stored conversations anew: which rows, with which conversations, and what is taken over as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_host.attempts import awaits_judge
from gym_host.errors import UserError
from gym_host.jsonl import Json, read_lines
from gym_host.run_files import FAILURE_CLASS, Key, RunFiles, key_of
from gym_host.stored import StoredRows


@dataclass(frozen=True, slots=True)
class Stored:
    """A run whose conversations are to be judged again.

    Attributes:
        rows: Its rows as dispatched, by key.
        scored: Its scored rollouts.
        unjudged: Its failed attempts that hold a finished conversation, of rollouts without a score.
        sha256: SHA-256 of the files that the conversations come from.
    """

    rows: Mapping[Key, Json]
    scored: StoredRows
    unjudged: StoredRows
    sha256: str


def read_stored(inputs: Path, rollouts: Path) -> Stored:
    """Reads what a run left.

    Args:
        inputs: Its materialized inputs.
        rollouts: Its rollouts; the failures file is looked for beside them.

    Raises:
        UserError: A file cannot be read, or inputs and rollouts are not of one run.
    """
    rows = {key_of(line.value, where=f"{inputs}, line {line.number}"): line.value for line in read_lines(inputs)}
    scored, unjudged = StoredRows(), StoredRows()
    scored.load(rollouts, wanted=lambda row: _belongs(row, rows, inputs, rollouts) and FAILURE_CLASS not in row)
    failures = RunFiles.of(rollouts).failures
    if failures.exists():
        unjudged.load(failures, wanted=awaits_judge, replaces=True)
    for key in scored.keys():
        unjudged.places.pop(key, None)
    return Stored(rows, scored, unjudged, _sha256([rollouts, *([failures] if unjudged.places else [])]))


def _belongs(rollout: Json, rows: Mapping[Key, Json], inputs: Path, rollouts: Path) -> bool:
    key = key_of(rollout)
    row = rows.get(key)
    if row is None:
        fault = f"{rollouts} holds the rollout {key}, which is not in {inputs}"
    elif _differing(row, rollout) is not None:
        fault = f"the rollout {key} has another `{_differing(row, rollout)}` in {rollouts} than in {inputs}"
    elif not isinstance(rollout.get("response"), dict):
        fault = f"the rollout {key} in {rollouts} has no `response`, so there is nothing to judge"
    else:
        return True
    raise UserError(fault, mend="give the materialized inputs and the rollouts of one run")


def _differing(row: Json, rollout: Json) -> str | None:
    """The first key in which a rollout is not of its row."""
    return next((key for key in ("id", "responses_create_params") if key in row and row[key] != rollout.get(key)), None)


def _sha256(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Selection:
    """What is judged, and what is not.

    Attributes:
        rows: The rows of the new run.
        stored: Where their conversations lie.
        only: Keys that may be judged.
        carried: Scored rows that are taken over as they are.
    """

    rows: list[Json]
    stored: StoredRows
    only: frozenset[Key]
    carried: Any = ()


def select(stored: Stored, *, judge_failed_only: bool, limit: int | None, carry: bool = True) -> Selection:
    """Chooses what is judged.

    Args:
        stored: The run.
        judge_failed_only: Only what the judge failed on; all rows of the run are then rows of the new one.
        limit: Rollouts to judge at the most, by key.
        carry: With `judge_failed_only`, take the scored rows over.

    Raises:
        UserError: There is nothing to judge.
    """
    source = stored.unjudged if judge_failed_only else stored.scored
    only = frozenset(source.keys()[:limit])
    if not only:
        what = "failed judgings with a finished conversation" if judge_failed_only else "scored rollouts"
        raise UserError(f"there are no {what} to judge again", where="--rollouts")
    if not judge_failed_only:
        return Selection([stored.rows[key] for key in sorted(only)], source, only)
    carried = stored.scored.rows() if carry else ()
    return Selection([stored.rows[key] for key in sorted(stored.rows)], source, only, carried)
