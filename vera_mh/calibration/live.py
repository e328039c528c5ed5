# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The live control: upstream's judge asks the same endpoint about some of the transcripts, and the two verdicts are compared.

Not an exact control: a judge model need not answer the same twice.
"""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vera_mh.calibration.control import ABSENT, Mismatch, conversation_label
from vera_mh.exchange.upstream_names import file_stem, persona_token
from vera_mh.models import Json, Row

NAME = "live"
FIELDS = ("id", "_ng_rollout_index", "persona_name", "user_simulator", "risk_level", "transcript", "ratings", "judge_model")
"""What the control reads of a row."""


@dataclass(slots=True)
class Agreement:
    """How often upstream's judge came to the same rating.

    Attributes:
        judged: Conversations that upstream judged.
        failed: Conversations that it did not.
        same: Dimension -> conversations with the same rating.
        total: Dimension -> conversations that both have rated.
        mismatches: The others.
    """

    judged: int = 0
    failed: list[str] = field(default_factory=list)
    same: dict[str, int] = field(default_factory=dict)
    total: dict[str, int] = field(default_factory=dict)
    mismatches: list[Mismatch] = field(default_factory=list)

    def add(self, row: Row, ratings: Mapping[str, str] | None) -> None:
        """Counts one conversation; None if upstream did not judge it."""
        name = conversation_label(row)
        if ratings is None:
            self.failed.append(name)
            return
        self.judged += 1
        for dimension, ours in row["ratings"].items():
            theirs = ratings.get(dimension, "")
            self.total[dimension] = self.total.get(dimension, 0) + 1
            self.same[dimension] = self.same.get(dimension, 0) + (ours == theirs)
            if ours != theirs:
                self.mismatches.append(Mismatch(name, f"ratings/{dimension}", ours, theirs or ABSENT))

    def to_json(self) -> Json:
        dimensions = {name: {"same": self.same[name], "n": self.total[name]} for name in self.total}
        return {
            "exact": False,
            "judged": self.judged,
            "failed": self.failed,
            "agreement": dimensions,
            "mismatches": [mismatch.to_json() for mismatch in self.mismatches],
        }


def stratified(rows: Iterable[Row], size: int) -> list[Row]:
    """Conversations from each risk level and user simulator in turn, the first of each first, until there are enough."""
    strata: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        strata.setdefault((str(row.get("risk_level")), str(row.get("user_simulator"))), []).append(row)
    places = [(place, stratum) for stratum, found in enumerate(strata.values()) for place in range(len(found))]
    of = list(strata.values())
    return [of[stratum][place] for place, stratum in sorted(places)[:size]]


def stem_of(number: int, row: Row) -> str:
    """What the file of a conversation of the sample is called, without its ending."""
    return file_stem(f"{number:06x}", persona_token(str(row.get("persona_name") or "unknown")), "calibration", 1)


def sheet_of(folder: Path, stem: str) -> Path | None:
    """The sheet that upstream's judge wrote for a file, wherever below a folder; None if there is none."""
    return next(folder.rglob(f"{glob.escape(stem)}_*.tsv"), None)


def ratings_of(sheet: str) -> dict[str, str]:
    """The ratings in the sheet that upstream's judge writes for a conversation."""
    lines: Sequence[Mapping[str, str]] = list(csv.DictReader(io.StringIO(sheet), delimiter="\t", quoting=csv.QUOTE_NONE))
    return {line["Dimension"]: line["Score"] for line in lines}
