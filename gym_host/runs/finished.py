# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are finished: read back, merged, and refused where they must not be counted together."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from gym_host.config.containers import differences
from gym_host.errors import UserError
from gym_host.jsonl import Json, pass_over_torn, read_lines, say_torn
from gym_host.runs.identity import evaluated_server
from gym_host.runs.run_files import FAILURE_CLASS, ROLLOUT_INDEX, TASK_INDEX, Key, RunFiles, key_of, project, read_failures
from gym_host.runs.run_record import read_record

Name = tuple[str, int]
"""What a rollout is known by wherever it was run: the `id` of its row (its task index where rows have none), rollout index."""


def name_of(row: Mapping[str, Any]) -> Name:
    """The name of a rollout."""
    id_ = row.get("id")
    return f"task {row[TASK_INDEX]}" if id_ is None else str(id_), int(row[ROLLOUT_INDEX])


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run's files, read back.

    Attributes:
        path: The rollouts file.
        rows: The kept fields of its rows, in the order of the file.
        record: Its `x_run.json`, or nothing if there is none.
        unscored: Rollouts that its materialized inputs name and that it did not score -> how they failed last, or None.
        uncounted: Rollouts without a score of which only the record knows, for lack of inputs.
    """

    path: Path
    rows: Sequence[Json]
    record: Json
    unscored: Mapping[Name, str | None] = field(default_factory=dict)
    uncounted: int = 0

    @property
    def missing(self) -> int:
        """Rollouts without a score, as far as is known."""
        return len(self.unscored) + self.uncounted

    @property
    def planned(self) -> int:
        """Rollouts of the run, as far as is known."""
        return len(self.rows) + self.missing

    @property
    def failures(self) -> Counter[str]:
        """Failure class -> rollouts without a score that failed so last, where only the record tells."""
        failed = _counts(self.record).get("failed")
        return Counter(failed) if self.uncounted and isinstance(failed, dict) else Counter()


def _counts(record: Json) -> Json:
    counts = record.get("counts")
    return counts if isinstance(counts, dict) else {}


def read_run(path: Path, fields: Iterable[str] | None) -> FinishedRun:
    """Reads a run.

    Args:
        path: Its rollouts file; its other files are looked for beside it.
        fields: Fields to keep, dots for nesting; None for all.

    Raises:
        UserError: A file cannot be read, or a rollout stands there twice.
    """
    kept = None if fields is None else list(fields)
    rows: dict[Key, Json] = {}
    scored: set[Name] = set()
    for line in read_lines(path, torn=say_torn):
        where = f"{path}, line {line.number}"
        key = key_of(line.value, where=where)
        if key in rows:
            raise UserError(f"the rollout {key} stands twice", where=where, mend="remove one of the two")
        rows[key] = project(line.value, kept)
        scored.add(name_of(line.value))
    record, files = read_record_if_any(path), RunFiles(path)
    if files.inputs.exists():
        return FinishedRun(path, list(rows.values()), record, _unscored(files, scored))
    planned = _counts(record).get("planned")
    uncounted = max(0, planned - len(rows)) if isinstance(planned, int) else 0
    return FinishedRun(path, list(rows.values()), record, uncounted=uncounted)


def _unscored(files: RunFiles, scored: set[Name]) -> dict[Name, str | None]:
    """What the materialized inputs name and the rollouts lack. A run that was killed has no counts, but always its inputs."""
    failed = {name_of(before.last): str(before.last.get(FAILURE_CLASS)) for before in read_failures(files.failures).values()}
    planned = [_name_at(line.value, f"{files.inputs}, line {line.number}") for line in read_lines(files.inputs)]
    return {name: failed.get(name) for name in planned if name not in scored}


def _name_at(row: Json, where: str) -> Name:
    key_of(row, where=where)
    return name_of(row)


def read_record_if_any(rollouts: Path) -> Json:
    """The record beside a rollouts file, or nothing."""
    files = RunFiles(rollouts)
    return read_record(files, mend="repair it, or move it away") if files.run.exists() else {}


def refuse_mixed(runs: Iterable[FinishedRun], uniform: Iterable[str], *, compared: bool = False) -> None:
    """Refuses to count together what was judged by different measures.

    Args:
        runs: The runs.
        uniform: Fields that must be the same in all rows, dots for nesting; a row where one is null says nothing of it.
        compared: They are compared, so that the difference may be what is to be seen.

    Raises:
        UserError: A field differs; the message names it, both values and where they stand.
    """
    mend = "judge one of them again with `gym eval reverify`, or leave it out"
    if compared:
        mend += "; what holds two judges against each other, if anything, `gym tool BENCHMARK` lists"
    names, seen = list(uniform), dict[str, tuple[list[Any], Path]]()
    for run in runs:
        for name in names:
            values = values_of(run.rows, name)
            if not values:
                continue
            first, where = seen.setdefault(name, (values, run.path))
            if values != first:
                raise UserError(
                    f"`{name}` is {_listed(first)} in {where} and {_listed(values)} in {run.path}, so they cannot be counted "
                    "together",
                    mend=mend,
                )


def values_of(rows: Iterable[Json], name: str) -> list[Any]:
    """The different values of a field, dots for nesting; a row where it is null says nothing of it."""
    found = {repr(value): value for row in rows if (value := _value(row, name)) is not None}
    return [found[key] for key in sorted(found)]


def _listed(values: Sequence[Any]) -> str:
    return " or ".join(map(repr, values))


def refuse_other_servers(runs: Iterable[FinishedRun], *, compared: bool = False) -> None:
    """Refuses to count together what was made by servers with other settings, where the records of the runs tell.

    Args:
        runs: The runs.
        compared: They are compared, so that the evaluated model may be another one in each.

    Raises:
        UserError: A server that two runs have in common had other settings; the message names which.
    """
    first: FinishedRun | None = None
    for run in runs:
        servers = _servers(run, but_evaluated=compared)
        first = first or (run if servers else None)
        if first is None:
            continue
        known = _servers(first, but_evaluated=compared)
        both = known.keys() & servers.keys()
        for key, was, now in differences({name: known[name] for name in both}, {name: servers[name] for name in both}):
            if not key.endswith(".base_url"):  # The same model may answer at another address.
                raise UserError(
                    f"`{key}` was {was!r} in {first.path} and {now!r} in {run.path}, so they cannot be counted together",
                    mend="leave one of them out",
                )


def _servers(run: FinishedRun, *, but_evaluated: bool) -> Json:
    """The servers of a run, as its record has them; without the evaluated model and the word that names it, if so wanted."""
    identity: Json = run.record.get("identity") or {}
    servers: Json = identity.get("servers") or {}
    evaluated = evaluated_server(run.record)
    if not but_evaluated or evaluated is None:
        return servers
    agent = str(identity.get("agent"))
    kept = {name: server for name, server in servers.items() if name != evaluated}
    without = {key: value for key, value in servers[agent]["settings"].items() if key != "model_server"}
    return kept | {agent: {**servers[agent], "settings": without}}


def _value(row: Json, name: str) -> Any:
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


@dataclass(slots=True)
class Merged:
    """Rows of several shards, as one.

    Attributes:
        places: Name of each rollout that is kept -> its file, offset and length.
        keys: Its name -> its task and rollout index in the merged run.
        repeated: Rows left out because another shard has the very same one.
    """

    places: dict[Name, tuple[Path, int, int]] = field(default_factory=dict)
    keys: dict[Name, Key] = field(default_factory=dict)
    repeated: int = 0

    def rows(self) -> Iterator[tuple[Key, Json]]:
        """The merged rows, by key."""
        for name, key in sorted(self.keys.items(), key=lambda item: item[1]):
            path, offset, length = self.places[name]
            with path.open("rb") as file:
                file.seek(offset)
                row = orjson.loads(file.read(length))
            yield key, row | {TASK_INDEX: key[0], ROLLOUT_INDEX: key[1]}


def merge_shards(paths: Sequence[Path]) -> Merged:
    """Merges shards of one evaluation.

    Shards that numbered their own tasks from 0 are numbered anew, in the order in which they are given; shards that are parts
    of one numbering keep it. A rollout that stands in two shards is kept once if both rows are the same, and refused if not.

    Raises:
        UserError: A rollout stands in two shards with different outcomes, or a file cannot be read.
    """
    merged, contents = Merged(), dict[Name, bytes]()
    numbers: dict[str, int] = {}
    for path in paths:
        for line in read_lines(path, torn=pass_over_torn):
            task, _ = key_of(line.value, where=f"{path}, line {line.number}")
            name, content = name_of(line.value), _content(line.value)
            if name in merged.places:
                _refuse_other_outcome(name, merged.places[name][0], path, same=contents[name] == content)
                merged.repeated += 1
                continue
            contents[name] = content
            merged.places[name] = (path, line.offset, line.length)
            numbers.setdefault(name[0], task)
    if len(set(numbers.values())) < len(numbers):
        numbers = {task: number for number, task in enumerate(numbers)}
    merged.keys = {name: (numbers[name[0]], name[1]) for name in merged.places}
    return merged


def _content(row: Json) -> bytes:
    """A digest of all that a row says but its number, which is its shard's."""
    return hashlib.sha256(orjson.dumps({**row, TASK_INDEX: None}, option=orjson.OPT_SORT_KEYS)).digest()


def _refuse_other_outcome(name: Name, first: Path, second: Path, *, same: bool) -> None:
    if not same:
        raise UserError(
            f"{name[0]}, rollout {name[1]}, stands in {first} and, with another outcome, in {second}",
            mend="leave one of the files out",
        )
