# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a file, found by their key and read when they are wanted, since all of them may not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from gym_host.errors import OutputError, UserError
from gym_host.jsonl import Json, say_torn
from gym_host.runs.keys import Key, key_of, keyed_lines


@dataclass(slots=True)
class StoredRows:
    """Where rows lie, by key.

    Attributes:
        places: Key -> file, offset and length of its line.
    """

    places: dict[Key, tuple[Path, int, int]] = field(default_factory=dict)

    def __contains__(self, key: Key) -> bool:
        return key in self.places

    def __len__(self) -> int:
        return len(self.places)

    def keys(self) -> list[Key]:
        """All keys, in order."""
        return sorted(self.places)

    def load(self, path: Path, *, wanted: Callable[[Json], bool] = lambda row: True, replaces: bool = False) -> None:
        """Takes note of the rows of a file. Half a last line is warned of, and left out.

        Args:
            path: The file.
            wanted: Which rows to take.
            replaces: Whether a later row takes the place of an earlier one of its key.

        Raises:
            OutputError: A key stands twice, or a row has none.
            UserError: The file cannot be read, or a line is broken.
        """
        for line in keyed_lines(path, torn=say_torn):
            if not wanted(line.row):
                if replaces:
                    self.places.pop(line.key, None)
                continue
            if not replaces:
                line.refuse_second(self.places)
            self.places[line.key] = (path, line.offset, line.length)

    def line(self, key: Key) -> bytes:
        """The line of a row, with its line end."""
        path, offset, length = self.places[key]
        try:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(length)
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}") from None

    def row(self, key: Key) -> Json:
        """A row.

        Raises:
            UserError: The file is not as it was when its rows were noted.
        """
        try:
            row: Json = orjson.loads(self.line(key))
            if key_of(row) == key:
                return row
        except (orjson.JSONDecodeError, OutputError):
            pass
        raise UserError(f"{self.places[key][0]} was changed by somebody else meanwhile", mend="run the command anew")

    def rows(self) -> Iterator[Json]:
        """All rows, by key."""
        return (self.row(key) for key in self.keys())
