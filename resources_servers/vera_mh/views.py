# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the host asks for to show a run of this server: thin functions, one for each view."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from gym_host.errors import UserError
from gym_host.runs.cost import add_failures
from gym_host.runs.fields import project, values_of
from gym_host.runs.keys import Key, key_of
from gym_host.runs.stored_run import StoredRun
from gym_host.wording import quoted
from vera_mh.errors import PackError, RowError, RubricError
from vera_mh.metrics import ROW_FIELDS, UNIFORM_FIELDS, check_row
from vera_mh.models import Json
from vera_mh.pack import RUBRIC, VERA_MH, open_pack
from vera_mh.report import RunContent, comparison_page, run_page
from vera_mh.report.content import Failure
from vera_mh.rubric import Question, parse_rubric
from vera_mh.views.conversation_page import LISTED, conversation_page, listed, names_of
from vera_mh.views.run_tables import overview_of
from vera_mh.views.samples import results as results_of
from vera_mh.views.samples import sample
from vera_mh.views.usage import Usage, usage_of_run

ROOT = Path(__file__).parents[2]


def meter(record: Json) -> Usage:
    """Adds up what the calls of a run took, from its record (`x_run.json`)."""
    return usage_of_run(record)


def overview(run: StoredRun) -> Json:
    """The tables and notes of a run, reckoned from its rows, and what these were rated by: one value each, if all is well.

    Raises:
        UserError: A row is no scored row of this server.
    """
    rows = [project(row, ROW_FIELDS) for row in _scored(run)]
    return {**overview_of(rows), "measure": {name: values_of(rows, name) for name in UNIFORM_FIELDS}}


def conversations(run: StoredRun) -> Json:
    """All conversations of a run, failed ones included: the columns of a list, and for each its key, names and cells."""
    rows = chain(run.rows(), (failed.last for failed in run.failures.values()))
    entries = [{"key": key_of(row), "names": names_of(row), "cells": listed(row)} for row in rows]
    return {"columns": list(LISTED), "entries": sorted(entries, key=lambda entry: entry["key"])}


def page(row: Json) -> Json:
    """One conversation, as a person reads it."""
    return conversation_page(row)


def samples(run: StoredRun) -> Iterator[Json]:
    """The conversations of a run for other tools, failed ones last.

    Raises:
        UserError: A row is no scored row of this server.
    """
    return map(sample, chain(_scored(run), (failed.last for failed in run.failures.values())))


def results(metrics: Json) -> Json:
    """The metrics of a run for other tools: name of a score -> metric -> value."""
    return dict(results_of(metrics))


def report(run: StoredRun) -> Iterator[str]:
    """A page that shows a run, part by part.

    Raises:
        UserError: A row is no scored row of this server.
    """
    yield from run_page(replace(_content(run), cost=_cost(run)))


def comparison(base: StoredRun, other: StoredRun, found: Json) -> Iterator[str]:
    """A page that shows two runs side by side, part by part.

    Args:
        base: The run to compare with.
        other: The other run.
        found: The answer of `/compare`.

    Raises:
        UserError: A row is no scored row of this server.
    """
    yield from comparison_page(_content(base), _content(other), found)


def _scored(run: StoredRun) -> Iterator[Json]:
    """The rows of a run, each known to have what is counted: conversations that nobody judged have rows too.

    Raises:
        UserError: One has not; the message names the file, and what to do about it.
    """
    for row in run.rows():
        try:
            check_row(f"`{row.get('id')}` (repeat {key_of(row)[1]})", row)
        except RowError as error:
            files = quoted("--inputs", run.files.inputs, "--rollouts", run.path)
            raise UserError(
                f"a conversation cannot be counted: {error}",
                where=str(run.path),
                mend=f"judge them first: gym eval reverify --benchmark NAME {files} --output FILE",
            ) from None
        yield row


def _cost(run: StoredRun) -> Json:
    usage = meter(run.record)
    for row in run.rows():
        usage.add(row)
    add_failures(usage, run.files.failures)
    return usage.summary()


def _content(run: StoredRun) -> RunContent:
    return RunContent(
        name=run.path.name,
        rows=partial(_scored, run),
        row=lambda key: run.row(_stored_key(key)),
        record=run.record,
        planned=run.planned(),
        failures=[Failure(failed.attempts, failed.last) for failed in run.failures.values()],
        questions=_questions(run),
    )


def _stored_key(key: str) -> Key:
    task, _, rollout = key.partition("-")
    return int(task), int(rollout)


def _questions(run: StoredRun) -> Mapping[str, Question]:
    """The rubric that judged the run, if its pack is on this machine and is the same; a page can do without."""
    first: Json = next(iter(run.rows()), {})
    pack = _pack_in(run.record) or (VERA_MH.name if first.get("pack") == VERA_MH.name else None)
    if pack is None:
        return {}
    try:
        found = open_pack(pack, environ=os.environ, bases=(Path.cwd(), ROOT))
        same = found.about()["pack_sha256"] == first.get("pack_sha256")
        return parse_rubric(found.text(RUBRIC)).questions if same else {}
    except (PackError, RubricError):
        return {}


def _pack_in(record: Json) -> str | None:
    servers: Mapping[str, Any] = (record.get("identity") or {}).get("servers") or {}
    own = (server for server in servers.values() if server.get("server") == "resources_servers/vera_mh")
    return next((server["settings"].get("pack") for server in own), None)
