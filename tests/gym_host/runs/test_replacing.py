# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are in the way of a run, and what becomes of those that are overwritten."""

from __future__ import annotations

import asyncio

import pytest

from gym_host.runs.replacing import kept_as
from tests.support.components import read_jsonl, snapshot, sum_row, until
from tests.support.sums import Bench, numbers


async def test_files_that_are_there_are_not_touched_without_being_told(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    assert "x.jsonl is already there" in await bench.refused()
    for path in bench.files.all[:-1]:
        path.unlink()
    assert "x_run.json is already there" in await bench.refused()


async def test_overwriting_starts_anew(bench: Bench):
    bench.root.write([sum_row(1), sum_row(2, "failed")])
    await bench.run()
    bench.root.write([sum_row(3)])
    await bench.run(overwrite=True)
    assert (numbers(bench.rows), bench.failures, numbers(read_jsonl(bench.files.inputs))) == ([3], [], [3])


async def test_what_is_overwritten_is_kept_until_the_new_run_has_scored_something(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    before = snapshot(bench.files.rollouts.parent)
    bench.root.write([sum_row(2, *["failed"] * 4, "scored")])
    for _ in range(2):
        assert (await bench.run(overwrite=True)).scored == 0
        after = snapshot(bench.files.rollouts.parent)
        assert {name: after[f"{name}.replaced"] for name in before} == before
        assert bench.record["counts"]["scored"] == 0
    told = f"what was to be replaced is kept as {bench.files.rollouts}.replaced and 4 files beside it\n"
    assert bench.said.getvalue().count("to be replaced") == bench.said.getvalue().count(told) == 2
    await bench.run(resume=True)
    assert len(snapshot(bench.files.rollouts.parent)) == 10
    assert (await bench.run(resume=True, max_attempts=9)).scored == 1
    assert snapshot(bench.files.rollouts.parent).keys() == before.keys()
    assert numbers(bench.rows) == [2]


async def test_an_output_that_is_a_link_stays_one_whatever_is_run_into_it(bench: Bench):
    target = bench.files.rollouts.parent.parent / "other disk" / "x.jsonl"
    target.parent.mkdir()
    bench.files.rollouts.parent.mkdir(exist_ok=True)
    bench.files.rollouts.symlink_to(target)
    bench.root.write([sum_row(1, waits="gate"), sum_row(2)])
    first = asyncio.create_task(bench.run(overwrite=True))
    await until(lambda: bench.files.rollouts.exists() and len(bench.rows) == 1)
    bench.root.open("gate")
    assert (await first).complete
    assert (bench.files.rollouts.is_symlink(), numbers(read_jsonl(target))) == (True, [1, 2])
    bench.root.write([sum_row(3)])
    await bench.run(overwrite=True)
    assert (bench.files.rollouts.is_symlink(), numbers(read_jsonl(target))) == (True, [3])
    assert list(target.parent.iterdir()) == [target]


async def test_what_is_overwritten_goes_with_the_first_rollout_that_is_scored(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    bench.root.write([sum_row(2), sum_row(3, waits="gate")])
    second = asyncio.create_task(bench.run(overwrite=True))
    await until(lambda: len(bench.root.calls()) == 3 and bench.files.rollouts.exists() and len(bench.rows) == 1)
    assert not list(bench.files.rollouts.parent.glob("*.replaced"))
    bench.root.open("gate")
    assert (await second).complete


@pytest.mark.parametrize("moved", range(6))
async def test_overwriting_that_was_killed_while_it_made_room_is_done_again(bench: Bench, moved: int):
    bench.root.write([sum_row(1)])
    await bench.run()
    before = snapshot(bench.files.rollouts.parent)
    for path in bench.files.all[::-1][:moved]:
        path.replace(kept_as(path))
    bench.root.write([sum_row(2, "failed", "failed", "scored")])
    assert (await bench.run(overwrite=True)).scored == 0
    after = snapshot(bench.files.rollouts.parent)
    assert {name: after[f"{name}.replaced"] for name in before} == before
    assert (await bench.run(overwrite=True)).scored == 1
    assert snapshot(bench.files.rollouts.parent).keys() == before.keys()


async def test_what_is_to_be_overwritten_stays_until_it_is_certain_that_the_servers_start(bench: Bench):
    bench.root.write([sum_row(1)])
    await bench.run()
    assert "bonus" in await bench.refused(overwrite=True, agent={"bonus": "much"})


async def test_a_second_run_of_the_same_files_is_refused_while_the_first_goes_on(bench: Bench):
    bench.root.write([sum_row(1, waits="gate")])
    first = asyncio.create_task(bench.run())
    await until(lambda: bench.root.calls() != [])
    assert "another run is writing" in await bench.refused(resume=True)
    bench.root.open("gate")
    assert (await first).complete
