# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever goes on with the files of a run is held against its record: what may have changed since, and what may not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest
from pathlib import Path

from gym_host.config.request_params import PARAMS
from gym_host.errors import OutputError
from gym_host.jsonl import Json, pass_over_torn, read_lines
from gym_host.runs.attempts import awaits_judge
from gym_host.runs.failures import FailedBefore, read_failures
from gym_host.runs.identity import refuse_other_run
from gym_host.runs.keys import Key
from gym_host.runs.run_files import RunFiles
from gym_host.runs.run_record import now, read_record

FORGIVEN = "failures_forgiven"
"""Key of a record: how many failures, from the first on, count as no attempt, since the run was stopped after them."""

MENDED = "failures_mended"
"""Key of a record: how many failures, from the first on, count as no attempt and are not final, since the setup was corrected."""


def settle_record(
    files: RunFiles, identity: Json, *, rows: Sequence[Json] = (), joins: bool = False, judging: Collection[str] = ()
) -> Json:
    """The record to go on with: that of the run whose files these are, or a new one.

    As long as nothing is scored, what an endpoint refused may be corrected: addresses, models, parameters of requests. What is
    scored was made by them. Conversations that only wait for their judge were made too, so that then only the requests of the
    judging may change. Attempts that failed before a correction count for nothing.

    Args:
        files: The files of the run.
        identity: What makes the run that is to be done.
        rows: Its rows as dispatched.
        joins: It only adds to another run's files, so that only the servers which it uses must be the same.
        judging: Names of servers that only judge: they take no part in making a conversation.

    Raises:
        OutputError: The files belong to another run, or to nobody knows which.
    """
    if not files.run.exists():
        _refuse_unclaimed(files)
        return {"identity": identity, "started_at": now()}
    record = read_record(files)
    found = record.get("identity", {})
    if joins:
        found, identity = _servers(found, identity), _servers(identity, identity)
    nothing_scored = not joins and not (files.rollouts.exists() and files.rollouts.stat().st_size)
    if not nothing_scored:
        refuse_other_run(found, identity, where=str(files.run))
        return record
    nothing_made = not _holds_conversations(files)
    if nothing_made and found.get("rows") != identity["rows"] and _differ_by_params_alone(files.inputs, rows):
        found = {**found, "rows": identity["rows"]}
    refuse_other_run(found, identity, where=str(files.run), requests_of=tuple(identity["servers"]) if nothing_made else judging)
    if record.get("identity") != identity:
        forgive_failures(files, record, MENDED)
    return record | {"identity": identity}


def failed_before(files: RunFiles, record: Json) -> dict[Key, FailedBefore]:
    """The failures of a run, by key, and which of them count."""
    return read_failures(files.failures, forgiven=record.get(FORGIVEN, 0), mended=record.get(MENDED, 0))


def forgive_failures(files: RunFiles, record: Json, how: str) -> None:
    """Notes that the failures so far are no attempts: what they failed of was the setup.

    Args:
        files: The files of the run.
        record: Its record.
        how: `FORGIVEN` or `MENDED`.
    """
    if files.failures.exists():
        record[how] = sum(1 for _ in read_lines(files.failures, torn=pass_over_torn))


def _differ_by_params_alone(inputs: Path, rows: Sequence[Json]) -> bool:
    """Whether rows are those of a file, but for what is asked of the model."""
    if not inputs.exists():
        return False
    pairs = zip_longest((line.value for line in read_lines(inputs, torn=pass_over_torn)), rows)
    return all(was and now and {**was, PARAMS: None} == {**now, PARAMS: None} for was, now in pairs)


def refuse_other_scorer(source: RunFiles, identity: Json) -> None:
    """Refuses to take over the scored rows of a run, unless the servers that are used now are those that scored them.

    Args:
        source: The files of the run.
        identity: What makes the run that takes them over.

    Raises:
        OutputError: A server was another, or nothing tells what it was.
    """
    mend = "give the same settings as before, or judge all of it anew (leave --judge-failed-only out)"
    if not source.run.exists():
        raise OutputError(
            f"{source.rollouts} is there without {source.run.name}, so it cannot be told what scored its rows",
            where=str(source.run),
            mend="judge all of it anew (leave --judge-failed-only out)",
        )
    found = read_record(source, mend=mend).get("identity", {})
    what = "the scored rows that would be kept were scored otherwise"
    refuse_other_run(_servers(found, identity), _servers(identity, identity), where=str(source.run), what=what, mend=mend)


def _holds_conversations(files: RunFiles) -> bool:
    """Whether conversations are finished of which only the judging failed."""
    return files.failures.exists() and any(awaits_judge(line.value) for line in read_lines(files.failures, torn=pass_over_torn))


def _servers(identity: Json, wanted: Json) -> Json:
    """What an identity says of the servers that are wanted."""
    servers = identity.get("servers") or {}
    return {"servers": {name: servers.get(name) for name in wanted["servers"]}}


def _refuse_unclaimed(files: RunFiles) -> None:
    unclaimed = next((path for path in (files.rollouts, files.failures) if path.exists()), None)
    if unclaimed is not None:
        raise OutputError(
            f"{unclaimed} is there without {files.run.name}, so it cannot be told which run it belongs to",
            where=str(files.run),
            mend="choose another --output",
        )
