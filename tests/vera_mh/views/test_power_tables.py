# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How many personas it takes, as a person reads it."""

from __future__ import annotations

from vera_mh.analysis.power import Spread
from vera_mh.views.power_tables import power_notes, power_table

SPREAD = Spread(standard_error=3.0, personas=100, conversations=200)


def test_the_table_tells_personas_and_conversations_for_each_difference_once_and_none_for_no_difference():
    table = power_table(SPREAD, [5.0, 10.0, -5.0, 0.0], title="T")
    assert table["rows"] == [["5.00 points", "283", "566"], ["10.00 points", "71", "142"]]


def test_the_notes_say_what_the_personas_that_there_are_can_tell():
    assert power_notes(SPREAD)[0].startswith("With 100 rated personas, a true difference of 8.4 points is found in four of five")


def test_without_a_spread_there_is_neither_a_row_nor_a_note():
    assert power_table(None, [5.0], title="T")["rows"] == []
    assert power_notes(None) == []
