# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run costs, as its files keep it."""

from __future__ import annotations

from pathlib import Path

from gym_host.runs.cost import add_failures, take_prices
from tests.support.components import Json, write_jsonl
from tests.support.meter import CountingMeter


def test_every_failed_attempt_is_counted(tmp_path: Path):
    meter = CountingMeter()
    add_failures(meter, tmp_path / "none.jsonl")
    assert meter.rows == []
    write_jsonl(tmp_path / "failures.jsonl", [{"error": "once"}, {"error": "twice"}])
    add_failures(meter, tmp_path / "failures.jsonl")
    assert meter.rows == [{"error": "once"}, {"error": "twice"}]


def test_a_record_keeps_the_prices_that_it_had_until_there_are_others():
    record: Json = {}
    take_prices(record, {})
    assert record == {}
    take_prices(record, {"judge": {"input": 1.0}, "user": {"input": 2.0}})
    take_prices(record, {})
    take_prices(record, {"judge": {"input": 3.0}})
    assert record == {"prices": {"judge": {"input": 3.0}, "user": {"input": 2.0}}}
