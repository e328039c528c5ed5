# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run costs, as its files keep it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_host.runs.cost import SafeMeter, add_failures, take_prices
from tests.support.components import Json, sum_row, write_jsonl
from tests.support.meter import BrokenMeter, CountingMeter
from tests.support.sums import Bench


async def test_a_meter_that_fails_ends_no_run_and_is_told_of_once(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2)])
    outcome = await bench.run(meter=BrokenMeter)
    assert outcome.complete
    assert bench.said.getvalue().count("its meter failed: TypeError: an odd row") == 1
    assert outcome.cost == {"tables": [], "notes": ["What the run cost could not be counted."]}
    assert bench.record["usage"] == []


@pytest.mark.parametrize("broken", ["headline", "summary", "to_json"])
def test_a_meter_that_fails_in_telling_the_cost_is_not_asked_again(broken: str):
    said: list[str] = []
    meter = SafeMeter(BrokenMeter(broken=broken), said.append)
    meter.add({"reward": 1})
    getattr(meter, broken)()
    assert len(said) == 1
    assert (meter.headline(), meter.summary()["tables"], meter.to_json()) == (None, [], [])
    assert len(said) == 1


def test_a_meter_that_does_not_fail_is_left_to_its_own_words():
    said: list[str] = []
    meter, plain = SafeMeter(CountingMeter(), said.append), CountingMeter()
    for one in (meter, plain):
        one.add({"reward": 1})
    assert (meter.headline(), meter.summary(), meter.to_json()) == (plain.headline(), plain.summary(), plain.to_json())
    assert said == []


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
