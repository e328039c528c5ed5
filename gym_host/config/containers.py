# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Plain containers, as configuration files give them: walk them, compare them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Keys = tuple[Any, ...]
"""The keys and indices that lead to a value."""


def leaves(node: Any, path: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Path and value of every leaf; an empty container is a leaf."""
    items = children(node)
    if not items:
        yield path, node
    for key, value in items:
        yield from leaves(value, (*path, key))


def children(node: Any) -> list[tuple[Any, Any]]:
    """Keys and values of a mapping, indices and values of a list, nothing of anything else."""
    if isinstance(node, dict):
        return list(node.items())
    return list(enumerate(node)) if isinstance(node, list) else []


def dotted(path: Keys) -> str:
    """A path as it is written on the command line."""
    return ".".join(map(str, path))


def clash(one: Any, other: Any, path: Keys = ()) -> Keys | None:
    """The first place where one has a list and the other a mapping, which cannot be merged; None if there is none."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = (clash(one[key], other[key], (*path, key)) for key in one if key in other)
        return next((place for place in found if place is not None), None)
    return path if {type(one), type(other)} == {dict, list} else None


def differences(found: Any, wanted: Any, place: Sequence[str] = ()) -> Iterator[tuple[str, Any, Any]]:
    """Dotted keys in which two values differ, with both values."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for key in dict.fromkeys([*found, *wanted]):
            yield from differences(found.get(key), wanted.get(key), [*place, str(key)])
    elif found != wanted:
        yield ".".join(place), found, wanted
