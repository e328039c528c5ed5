# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the host asks for to show a run of this server: thin functions, one for each view."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from gym_host.runs.finished import values_of
from gym_host.runs.run_files import key_of, project
from gym_host.runs.stored_run import StoredRun
from vera_mh.conversation_page import LISTED, conversation_page, listed, names_of
from vera_mh.metrics import ROW_FIELDS, UNIFORM_FIELDS
from vera_mh.models import Json
from vera_mh.overview import overview_of
from vera_mh.samples import results as results_of
from vera_mh.samples import sample
from vera_mh.usage import Usage, usage_of_run


def meter(record: Json) -> Usage:
    """Adds up what the calls of a run took, from its record (`x_run.json`)."""
    return usage_of_run(record)


def overview(run: StoredRun) -> Json:
    """The tables and notes of a run, reckoned from its rows, and what these were rated by: one value each, if all is well."""
    rows = [project(row, ROW_FIELDS) for row in run.rows()]
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
    """The conversations of a run for other tools, failed ones last."""
    return map(sample, chain(run.rows(), (failed.last for failed in run.failures.values())))


def results(metrics: Json) -> Json:
    """The metrics of a run for other tools: name of a score -> metric -> value."""
    return dict(results_of(metrics))
