# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How many personas it takes to tell two chatbots apart, as a table and in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from vera_mh.analysis.power import Spread
from vera_mh.views.summary import Table


def power_table(spread: Spread | None, differences: Sequence[float], *, title: str) -> Table:
    """How many personas and conversations of each run it takes to tell differences apart; no rows without a spread.

    Args:
        spread: How uncertain the difference of two scores is.
        differences: True differences in score points; each is shown once, without its sign, and 0 not at all.
        title: Title of the table.
    """
    points = sorted({abs(difference) for difference in differences if difference}) if spread is not None else []
    rows = [
        [f"{point:.2f} points", f"{spread.personas_needed(point):,}", f"{spread.conversations_needed(point):,}"]
        for point in points
        if spread is not None
    ]
    return {"title": title, "columns": ["True difference", "Rated personas", "Conversations of each run"], "rows": rows}


def power_notes(spread: Spread | None) -> list[str]:
    """What the table supposes, in sentences; none without a spread."""
    if spread is None:
        return []
    return [
        f"With {spread.personas} rated personas, a true difference of {spread.detectable():.1f} points is found in four of five "
        "runs (80% power, 5% two-sided).",
        "That supposes other personas as varied as these and errors that shrink with the root of their number; it is rough below "
        "30 personas. Repeats of the same personas help less: they average out chance, not personas.",
    ]
