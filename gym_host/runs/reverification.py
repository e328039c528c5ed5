# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Judging stored conversations anew: which rows, with which conversations, and what is taken over as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gym_host.errors import UserError
from gym_host.jsonl import Json
from gym_host.runs.attempts import awaits_judge
from gym_host.runs.belonging import differing_key
from gym_host.runs.keys import FAILURE_CLASS, Key, key_of, keyed_lines
from gym_host.runs.run_files import RunFiles
from gym_host.runs.stored import StoredRows


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
    rows = _read_inputs(inputs)
    failures = RunFiles.of(rollouts).failures
    scored, unjudged = StoredRows(), StoredRows()
    scored.load(rollouts, wanted=lambda row: FAILURE_CLASS not in row and _belongs(row, rows, inputs, rollouts))
    if failures.exists():
        unjudged.load(failures, wanted=lambda row: awaits_judge(row) and _belongs(row, rows, inputs, failures), replaces=True)
    for key in scored.keys():
        unjudged.places.pop(key, None)
    return Stored(rows, scored, unjudged, _sha256([rollouts, *([failures] if unjudged.places else [])]))


def _read_inputs(inputs: Path) -> dict[Key, Json]:
    rows: dict[Key, Json] = {}
    for line in keyed_lines(inputs):
        if line.key in rows:
            mend = "give the materialized inputs of one run"
            raise UserError(f"the rollout {line.key} stands twice", where=line.where, mend=mend)
        if not isinstance(line.row.get("responses_create_params"), dict):
            mend = "give the materialized inputs of a run"
            raise UserError("a row lacks `responses_create_params`", where=line.where, mend=mend)
        rows[line.key] = line.row
    return rows


def _belongs(rollout: Json, rows: Mapping[Key, Json], inputs: Path, source: Path) -> bool:
    key = key_of(rollout)
    row = rows.get(key)
    if row is None:
        fault = f"{source} holds the rollout {key}, which is not in {inputs}"
    elif (differing := differing_key(row, rollout)) is not None:
        fault = f"the rollout {key} has another `{differing}` in {source} than in {inputs}"
    elif not isinstance(rollout.get("response"), dict):
        fault = f"the rollout {key} in {source} has no `response`, so there is nothing to judge"
    else:
        return True
    raise UserError(fault, mend="give the materialized inputs and the rollouts of one run")


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
        rows: The rows of the new run: all of the old one, unless a limit chose some.
        stored: Where their conversations lie.
        only: Keys that are to be judged.
        carried: Scored rows that are taken over as they are.
    """

    rows: Sequence[Json]
    stored: StoredRows
    only: frozenset[Key]
    carried: StoredRows


def select(stored: Stored, *, judge_failed_only: bool, limit: int | None) -> Selection:
    """Chooses what is judged.

    Args:
        stored: The run.
        judge_failed_only: Only what the judge failed on; the new run is then the old one with that mended.
        limit: Rollouts to judge at the most, by key.

    Raises:
        UserError: There is nothing to judge.
    """
    source = stored.unjudged if judge_failed_only else stored.scored
    only = frozenset(source.keys()[:limit])
    if not only:
        what = "failed judgings with a finished conversation" if judge_failed_only else "scored rollouts"
        raise UserError(f"there are no {what} to judge again", where="--rollouts")
    whole = judge_failed_only or limit is None
    rows = [stored.rows[key] for key in sorted(stored.rows if whole else only)]
    return Selection(rows, source, only, carried=stored.scored if judge_failed_only else StoredRows())
