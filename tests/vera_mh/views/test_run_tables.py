# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A finished run as a person reads it."""

from __future__ import annotations

from tests.support.ratings import scored_row
from vera_mh.metrics import compute_metrics
from vera_mh.views.run_tables import overview_of
from vera_mh.views.summary import CAVEAT, summarize

ROWS = [scored_row("BSH"), scored_row("BBN", persona="Bo"), scored_row("SSB", persona="Cy")]


def test_it_holds_the_tables_of_the_metrics_and_ends_with_the_caveat():
    overview, summary = overview_of(ROWS), summarize(compute_metrics(ROWS))
    assert overview["tables"][:-1] == summary["tables"]
    assert overview["notes"][-1] == CAVEAT
    assert overview["notes"].count(CAVEAT) == 1


def test_it_tells_how_many_personas_another_run_would_take_and_that_it_takes_the_runs_for_unrelated():
    overview = overview_of(ROWS)
    assert overview["tables"][-1]["title"] == "Personas that it takes to tell another chatbot from this one"
    assert [row[0] for row in overview["tables"][-1]["rows"]] == ["2.00 points", "5.00 points", "10.00 points"]
    assert any("takes the two runs for unrelated" in note for note in overview["notes"])


def test_conversations_without_a_persona_stand_for_themselves():
    rows = [row | {"persona_name": None, "id": f"chat {number}"} for number, row in enumerate(ROWS)]
    assert overview_of(rows)["tables"][-1] == overview_of(ROWS)["tables"][-1]


def test_one_persona_tells_nothing_of_others():
    overview = overview_of(ROWS[:1])
    assert overview == summarize(compute_metrics(ROWS[:1]))
