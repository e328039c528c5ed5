# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The failures file of a run, read back: which rollouts failed, how often, and whether for good."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gym_host.jsonl import Json, say_torn
from gym_host.runs.keys import FAILURE_TERMINAL, Key, keyed_lines


@dataclass(frozen=True, slots=True)
class FailedBefore:
    """Failed attempts of one rollout.

    Attributes:
        attempts: How many there are.
        terminal: Whether the last is final.
        last: The row of the last.
        forgiven: How many of them do not count against the rollout.
    """

    attempts: int
    terminal: bool
    last: Json
    forgiven: int = 0


def read_failures(path: Path, *, forgiven: int = 0, mended: int = 0) -> dict[Key, FailedBefore]:
    """The failures file, by key; empty if there is none. Half a last line is warned of, and left out.

    Args:
        path: The file.
        forgiven: How many failures, from the first on, do not count.
        mended: How many do not count and are not final either, since what was asked has been corrected after them.
    """
    failed: dict[Key, FailedBefore] = {}
    for number, line in enumerate(keyed_lines(path, torn=say_torn) if path.exists() else (), 1):
        before = failed.get(line.key) or FailedBefore(0, False, {})
        counts = number > max(forgiven, mended)
        terminal = number > mended and bool(line.row.get(FAILURE_TERMINAL))
        failed[line.key] = FailedBefore(before.attempts + 1, terminal, line.row, before.forgiven + (not counts))
    return failed
