# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Several shards of one evaluation, merged: each rollout once, under numbers that no two tasks share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from gym_host.errors import UserError
from gym_host.jsonl import Json, pass_over_torn
from gym_host.runs.finished import Name, name_of
from gym_host.runs.keys import ROLLOUT_INDEX, TASK_INDEX, Key, keyed_lines


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
        for line in keyed_lines(path, torn=pass_over_torn):
            name, content = name_of(line.row), _content(line.row)
            if name in merged.places:
                _refuse_other_outcome(name, merged.places[name][0], path, same=contents[name] == content)
                merged.repeated += 1
                continue
            contents[name] = content
            merged.places[name] = (path, line.offset, line.length)
            numbers.setdefault(name[0], line.key[0])
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
