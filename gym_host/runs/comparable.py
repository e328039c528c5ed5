# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which finished runs may be counted together, or compared: what was judged or made otherwise is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gym_host.config.containers import differences
from gym_host.errors import UserError
from gym_host.jsonl import Json
from gym_host.runs.fields import values_of
from gym_host.runs.finished import FinishedRun
from gym_host.runs.run_record import RunRecord


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
    record = RunRecord(run.record)
    servers, evaluated = record.servers, record.evaluated_server
    if not but_evaluated or evaluated is None:
        return servers
    agent = str(record.agent)
    kept = {name: server for name, server in servers.items() if name != evaluated}
    without = {key: value for key, value in record.settings(agent).items() if key != "model_server"}
    return kept | {agent: {**servers[agent], "settings": without}}
