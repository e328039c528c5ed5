# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The `results.csv` that upstream's judge leaves for its scorer. Reproduces `judge/runner.py` at the pinned commit."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vera_mh.rating import UNRATED

_ABOUT = ("filename", "run_id", "judge_model", "judge_instance", "judge_id")
_NOTHING = ("", "")


@dataclass(frozen=True, slots=True)
class Judging:
    """A line of the table: one conversation, judged once.

    Attributes:
        filename: Of the conversation, with its ending.
        run: Name of the run.
        judge: The judge model.
        ratings: Dimension -> rating.
        issues: Dimension -> the question that decided it, and what was said to that.
    """

    filename: str
    run: str
    judge: str
    ratings: Mapping[str, str]
    issues: Mapping[str, tuple[str, str]]


def dimensions_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The dimensions that the rows were rated in, in the order of the rubric."""
    return list(dict.fromkeys(dimension for row in rows for dimension in row["ratings"]))


def results_csv(judgings: Iterable[Judging], dimensions: Sequence[str]) -> str:
    """The table.

    Args:
        judgings: Its lines.
        dimensions: Its dimensions, in the order of the rubric.
    """
    text = io.StringIO()
    sheet = csv.writer(text, lineterminator="\n")
    columns = [column for name in dimensions for column in (name, f"{name}_yes_question_id", f"{name}_yes_reasoning")]
    sheet.writerow([*_ABOUT, *columns])
    for judging in judgings:
        cells = [
            cell for name in dimensions for cell in (judging.ratings.get(name, UNRATED), *judging.issues.get(name, _NOTHING))
        ]
        sheet.writerow([judging.filename, judging.run, judging.judge, 1, 0, *cells])
    return text.getvalue()
