# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of rows by name, dots for nesting: what is kept of a row, and which values rows have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gym_host.jsonl import Json


def project(row: Mapping[str, Any], fields: Iterable[str] | None) -> Json:
    """The named fields of a row, dots for nesting; fields that are not there are left out."""
    if fields is None:
        return dict(row)
    kept: Json = {}
    for name in fields:
        source: Any = row
        *parents, last = name.split(".")
        for parent in parents:
            source = source.get(parent) if isinstance(source, Mapping) else None
        if isinstance(source, Mapping) and last in source:
            target = kept
            for parent in parents:
                target = target.setdefault(parent, {})
            target[last] = source[last]
    return kept


def values_of(rows: Iterable[Json], name: str) -> list[Any]:
    """The different values of a field, dots for nesting; a row where it is null says nothing of it."""
    found = {repr(value): value for row in rows if (value := _value(row, name)) is not None}
    return [found[key] for key in sorted(found)]


def _value(row: Json, name: str) -> Any:
    value: Any = row
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
