# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A finished run as a person reads it: the tables of its metrics, and what it would take to tell another run from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from vera_mh.analysis.power import DIFFERENCES, unpaired_spread
from vera_mh.metrics import cluster_of, compute_metrics
from vera_mh.models import Json
from vera_mh.score import Tally, tally
from vera_mh.statistics import score_interval
from vera_mh.views.power_tables import power_notes, power_table
from vera_mh.views.summary import summarize

_UNPAIRED = (
    "It takes the two runs for unrelated. Over the same personas they are not, so that fewer may do: a comparison of two "
    "finished runs tells."
)


def overview_of(rows: Sequence[Mapping[str, Any]]) -> Json:
    """`tables` and `notes` of scored rows, the caveat last.

    Args:
        rows: Scored rows, at least with `vera_mh.metrics.ROW_FIELDS`.
    """
    summary = summarize(compute_metrics(rows))
    by_persona: defaultdict[str, Tally] = defaultdict(Tally)
    for row in rows:
        by_persona[cluster_of(row)].merge(tally(row["ratings"].values()))
    spread = unpaired_spread(score_interval(dict(sorted(by_persona.items()))), len(rows))
    table = power_table(spread, DIFFERENCES, title="Personas that it takes to tell another chatbot from this one")
    *notes, caveat = summary["notes"]
    powers = [*power_notes(spread), _UNPAIRED] if spread is not None else []
    return {"tables": [*summary["tables"], *([table] if table["rows"] else [])], "notes": [*notes, *powers, caveat]}
