# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run that is under way knows of its rollouts file, of which not all may fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gym_host.jsonl import Json, sort_lines
from gym_host.runs.fields import project
from gym_host.runs.keys import Key, keyed_lines


@dataclass(slots=True)
class Scored:
    """What is known of the rollouts file: where each row lies, and the fields that the metrics read.

    Attributes:
        fields: Fields to keep of each row, dots for nesting; None keeps whole rows.
    """

    fields: Sequence[str] | None
    _rows: dict[Key, tuple[int, int, Json]] = field(default_factory=dict)
    _end: int = 0

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._rows)

    def load(
        self,
        path: Path,
        check: Callable[[Key, Json, str], None] = lambda key, row, where: None,
        *,
        seen: Callable[[Json], object] = lambda row: None,
    ) -> None:
        """Reads a rollouts file.

        Args:
            path: The file.
            check: Refuses a row by raising; gets its key, itself, and where it stands.
            seen: Is shown every row, whole.

        Raises:
            OutputError: A key stands twice, or a row has none, or is refused.
            UserError: A line is broken.
        """
        for line in keyed_lines(path):
            line.refuse_second(self._rows)
            check(line.key, line.row, line.where)
            self.add(line.key, line.row, line.length, offset=line.offset)
            seen(line.row)
        self._end = path.stat().st_size  # Blank lines may follow the last row.

    def add(self, key: Key, row: Json, length: int, *, offset: int | None = None) -> None:
        """Takes note of a row.

        Args:
            key: Its key.
            row: The row.
            length: Bytes of its line.
            offset: Where it starts; by default at the end of what is known.
        """
        start = self._end if offset is None else offset
        self._rows[key] = (start, length, project(row, self.fields))
        self._end = start + length

    def rows(self) -> list[Json]:
        """The kept fields of all rows, by key."""
        return [self._rows[key][2] for key in sorted(self._rows)]

    def sort(self, path: Path) -> None:
        """Sorts the rollouts file by key, if it is not."""
        places = [(self._rows[key][0], self._rows[key][1]) for key in sorted(self._rows)]
        if places != sorted(places):
            sort_lines(path, places)
