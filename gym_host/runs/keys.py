# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which rollout a row is of, and what else the host writes into a row; files of rows, read with their keys."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_host.errors import OutputError
from gym_host.jsonl import Json, read_lines

TASK_INDEX = "_ng_task_index"
ROLLOUT_INDEX = "_ng_rollout_index"
ATTEMPT_INDEX = "_ng_attempt_index"
FAILURE_CLASS = "_ng_failure_class"
FAILURE_TERMINAL = "_ng_failure_terminal"

Key = tuple[int, int]
"""(task index, rollout index) of a rollout."""


def key_of(row: Mapping[str, Any], *, where: str | None = None) -> Key:
    """The key of a row.

    Args:
        row: The row.
        where: File and line that it stands in, for the error.

    Raises:
        OutputError: The row has none.
    """
    task, rollout = row.get(TASK_INDEX), row.get(ROLLOUT_INDEX)
    if not isinstance(task, int) or not isinstance(rollout, int):
        raise OutputError(f"a row has no `{TASK_INDEX}` and `{ROLLOUT_INDEX}`, so it is no rollout of a run", where=where)
    return task, rollout


def is_score(reward: object) -> bool:
    """Whether a row's `reward` is one: a number, which `true` is not."""
    return isinstance(reward, int | float) and not isinstance(reward, bool)


@dataclass(frozen=True, slots=True)
class KeyedLine:
    """A row of a file.

    Attributes:
        key: Its key.
        row: The row.
        where: File and line that it stands in, for an error.
        offset: Where its line starts.
        length: Bytes of its line, with the line end.
    """

    key: Key
    row: Json
    where: str
    offset: int
    length: int

    def refuse_second(self, known: Container[Key]) -> None:
        """Refuses the row if its key is known already.

        Raises:
            OutputError: It is.
        """
        if self.key in known:
            raise OutputError(f"the rollout {self.key} stands twice", where=self.where, mend="remove one of the two")


def keyed_lines(path: Path, *, torn: Callable[[Path], object] | None = None) -> Iterator[KeyedLine]:
    """The rows of a file.

    Args:
        path: The file.
        torn: As `gym_host.jsonl.read_lines` has it.

    Raises:
        OutputError: A row has no key.
        UserError: The file cannot be read, or a line is broken.
    """
    for line in read_lines(path, torn=torn):
        where = f"{path}, line {line.number}"
        yield KeyedLine(key_of(line.value, where=where), line.value, where, line.offset, line.length)
