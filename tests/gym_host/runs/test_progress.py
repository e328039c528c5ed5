# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How far a run is, as it is shown."""

from __future__ import annotations

import asyncio
import io

import pytest
from fastapi import FastAPI
from rich.console import Console

from gym_host.runs.progress import BarDisplay, Counts, LineDisplay, RunState, duration, shown
from gym_host.runs.scoreboard import Scoreboard
from gym_host.runs.scored import Scored
from gym_host.serving.calls import InMemoryCalls
from tests.support.components import until
from tests.support.meter import CountingMeter

FAILED = {"_ng_failure_class": "judge_failed", "failure_stage": "judge_question_3", "error": "no answer", "id": "sum-4"}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Shown:
    """A display that remembers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.closed = 0

    def show(self, state: RunState, found: str) -> None:
        self.lines.append(f"{state.line()} | {found}")

    def close(self) -> None:
        self.closed += 1


def state_of(counts: Counts, clock: Clock | None = None, meter: CountingMeter | None = None) -> tuple[RunState, list[str]]:
    warnings: list[str] = []
    return RunState(counts, warn=warnings.append, meter=meter, clock=clock or Clock()), warnings


def board() -> Scoreboard:
    app = FastAPI()

    @app.post("/aggregate_metrics")
    async def aggregate() -> dict[str, object]:
        return {"agent_metrics": {}, "key_metrics": {"score": 50.0}}

    scored = Scored(None)
    scored.add((0, 0), {"reward": 1}, 10)
    return Scoreboard(InMemoryCalls({"sums": app}), "sums", scored)


def test_a_rollout_is_running_then_scored_or_failed():
    state, _ = state_of(Counts(10, scored_before=3, given_up=1))
    assert state.counts.left == 6
    for task in range(3):
        state.started((task, 0))
    assert (state.counts.running, state.counts.left) == (3, 6)
    state.finished((0, 0), {"reward": 1}, failed=False)
    state.finished((1, 0), FAILED, failed=True)
    counts = state.counts
    assert (counts.running, counts.scored, counts.failed, counts.left) == (1, 1, 1, 4)
    assert state.line().startswith("4/10 scored, 1 failed, 1 running")


def test_the_line_tells_the_pace_and_the_time_left_once_something_has_finished():
    clock = Clock()
    state, _ = state_of(Counts(100, scored_before=40), clock)
    state.started((0, 0))
    assert state.line() == "40/100 scored, 1 running"
    state.finished((0, 0), {}, failed=False)
    clock.now += 30
    assert state.line() == "41/100 scored, 0 running, 2.0/min, 29m30s left"
    clock.now += -29.5
    assert state.line() == "41/100 scored, 0 running, 2.0/s, 30s left"


def test_the_first_failure_is_told_at_once_and_only_the_first():
    state, warnings = state_of(Counts(3))
    for task in range(3):
        state.started((task, 0))
        state.finished((task, 0), {**FAILED, "id": f"sum-{task}"}, failed=True)
    assert warnings == ["first failure: sum-0: judge_failed at judge_question_3: no answer"]
    assert state.first_failure == "sum-0: judge_failed at judge_question_3: no answer"


def test_a_failure_without_an_id_or_a_stage_is_told_by_its_key():
    state, warnings = state_of(Counts(3))
    state.started((2, 1))
    state.finished((2, 1), {"_ng_failure_class": "agent_run_error", "error": "out of order"}, failed=True)
    assert warnings == ["first failure: (2, 1): agent_run_error: out of order"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (0.4, "0s"), (59.7, "1m00s"), (61, "1m01s"), (3599.6, "1h00m"), (7384, "2h03m")]
)
def test_a_duration_is_written_as_people_write_it(seconds: float, text: str):
    assert duration(seconds) == text


def test_plain_lines_are_written_every_so_often_and_not_more():
    clock, lines = Clock(), list[str]()
    display = LineDisplay(lines.append, clock=clock)
    state, _ = state_of(Counts(5), clock)
    for _ in range(100):
        display.show(state, "score 50.00" if clock.now < 140 else "")
        clock.now += 0.5
    display.close()
    assert lines == ["0/5 scored, 0 running, score 50.00"] * 2 + ["0/5 scored, 0 running"]


def test_the_bar_of_a_terminal_shows_the_line_and_below_it_what_is_found_with_brackets_as_they_are():
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=80, color_system=None)
    counts = Counts(5, scored_before=2)
    display = BarDisplay(console, counts)
    state, _ = state_of(counts)
    display.show(state, "score[/a] 50.00 (45.0 to 55.0), cost 4.20")
    display.close()
    lines = output.getvalue().splitlines()
    assert any(line.endswith("2/5 scored, 0 running") for line in lines)
    assert any("score[/a] 50.00 (45.0 to 55.0), cost 4.20" in line for line in lines)


def test_what_is_found_takes_a_second_line_where_one_is_too_short_for_it():
    output = io.StringIO()
    counts = Counts(5)
    display = BarDisplay(Console(file=output, force_terminal=True, width=80, color_system=None), counts)
    state, _ = state_of(counts)
    display.show(state, "score 50.00 (45.0 to 55.0, n=3), " * 3 + "cost 4.20")
    display.close()
    assert "cost 4.20" in output.getvalue()


async def test_a_run_is_shown_for_as_long_as_it_goes_and_the_display_closed_once():
    state, _ = state_of(Counts(5))
    display = Shown()
    async with shown(state, board(), display, seconds=0.001):
        await until(lambda: len(display.lines) == 3)
    told = len(display.lines)
    assert display.lines[-1] == "0/5 scored, 0 running | score 50.00"
    assert display.closed == 1
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(display.lines) == told


async def test_the_cost_so_far_is_shown_once_there_is_any_and_counts_failed_attempts_too():
    meter = CountingMeter()
    state, _ = state_of(Counts(5), meter=meter)
    display = Shown()
    async with shown(state, board(), display, seconds=0.001):
        await until(lambda: bool(display.lines) and display.lines[-1].endswith("score 50.00"))
        state.finished((0, 0), {"reward": 1}, failed=False)
        state.finished((1, 0), FAILED, failed=True)
        await until(lambda: display.lines[-1].endswith(", cost 2"))
    assert meter.rows == [{"reward": 1}, FAILED]


async def test_a_run_that_fails_closes_the_display_and_is_the_error_that_is_told():
    display = Shown()
    state, _ = state_of(Counts(5))
    with pytest.raises(KeyError, match="the run"):
        async with shown(state, board(), display, seconds=0.001):
            raise KeyError("the run")
    assert display.closed == 1
