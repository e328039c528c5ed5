# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a stored rollout is one of the rows of a run, or was changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gym_host.errors import OutputError
from gym_host.jsonl import Json
from gym_host.runs.keys import FAILURE_CLASS, Key, is_score

OF_THE_ROW = ("id", "responses_create_params")
"""Keys that say which row a rollout is of, whoever wrote it."""

_MEND = "restore the line, or remove it so that its rollout is run again"


def differing_key(row: Mapping[str, Any], rollout: Mapping[str, Any], keys: Iterable[str] = OF_THE_ROW) -> str | None:
    """The first key that a row has and that a rollout has not, or has otherwise."""
    return next((key for key in keys if key in row and row[key] != rollout.get(key)), None)


@dataclass(frozen=True, slots=True)
class Belonging:
    """What a rollout must be to be gone on with.

    Attributes:
        rows: The rows of the run, by key.
        fields: What the metrics read of a rollout; where the row has said it, it must be as the row says. A row that is itself a
            rollout of another run has said what that run came to, so that nothing follows from it.
    """

    rows: Mapping[Key, Json]
    fields: Iterable[str]

    def __call__(self, key: Key, rollout: Json, where: str) -> None:
        """Refuses a rollout that is none of the run.

        Raises:
            OutputError: It is of no row, of a row that was another, or has no score.
        """
        row = self.rows.get(key)
        if row is None:
            raise OutputError(f"the rollout {key} is not among the rows of this run", where=where, mend="remove the line")
        said = () if "reward" in row else self.fields
        differing = differing_key(row, rollout, (*OF_THE_ROW, "agent_ref", *said))
        if differing is not None:
            raise OutputError(f"the rollout {key} has another `{differing}` than its row", where=where, mend=_MEND)
        if FAILURE_CLASS in rollout or not is_score(rollout.get("reward")):
            raise OutputError(f"the rollout {key} has no score", where=where, mend=_MEND)
