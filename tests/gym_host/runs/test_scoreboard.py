# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a run: while it goes, and at its end."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI, HTTPException

from gym_host.errors import ServerError
from gym_host.runs.scoreboard import Headline, MetricFields, Scoreboard, Shown, headlines, metric_fields
from gym_host.runs.scored import Scored
from gym_host.serving.calls import InMemoryCalls

METRICS = {"agent_metrics": {"score": 1.0}, "key_metrics": {"score": 50.0}, "group_level_metrics": [{"id": "a"}]}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Agent:
    """An agent that counts how often it is asked for metrics, takes so long for them, and answers so."""

    def __init__(self, clock: Clock, answer: Any = METRICS, seconds: float = 0.0) -> None:
        self.asked: list[list[dict[str, Any]]] = []
        app = FastAPI()

        @app.post("/aggregate_metrics")
        async def aggregate(body: dict[str, Any]) -> Any:
            clock.now += seconds
            self.asked.append(body["verify_responses"])
            if answer is None:
                raise HTTPException(500, "no metrics today")
            return answer

        self.calls = InMemoryCalls({"sums": app})


def scoreboard(agent: Agent, clock: Clock, rows: int = 0) -> tuple[Scoreboard, Scored]:
    scored = Scored(["reward"])
    for number in range(rows):
        scored.add((number, 0), {"reward": number}, 10)
    return Scoreboard(agent.calls, "sums", scored, clock=clock), scored


# The headline


@pytest.mark.parametrize(
    ("key_metrics", "shown"),
    [
        ({"score": 93.75, "score/ci95_low": 88.888, "score/ci95_high": 98.57, "other": 1}, "score 93.75 (88.9 to 98.6)"),
        ({"score": 93.75, "score/ci95_low": None, "score/ci95_high": None}, "score 93.75"),
        ({"mean/reward": 1}, "mean/reward 1.00"),
        ({"score": None, "score/ci95_low": 1.0, "score/ci95_high": 2.0}, "score -"),
    ],
)
def test_the_first_key_metric_is_the_headline_with_its_interval_if_it_has_one(key_metrics: dict[str, Any], shown: str):
    assert [str(headline) for headline in headlines(key_metrics)] == [shown]


@pytest.mark.parametrize("key_metrics", [{}, {"name": "a text"}, {"list": [1]}, {"group": {"a": 1}}, [], None, "text"])
def test_key_metrics_whose_first_is_no_number_have_no_headline(key_metrics: Any):
    assert headlines(key_metrics) == []


SCORE = Shown("score", "VERA score", over="ratings", counted="ratings")
HARM = Shown("harm_pct", "harmful", unit="%", over="relevant")


def test_a_server_names_what_is_shown_of_its_key_metrics_each_with_its_n():
    key_metrics = {
        "score": 93.75,
        "score/ci95_low": 88.9,
        "score/ci95_high": 98.6,
        "ratings": 24,
        "harm_pct": 12.5,
        "relevant": 8,
    }
    told = ["VERA score 93.75 (88.9 to 98.6) over 24 ratings", "harmful 12.50% over 8"]
    assert [str(headline) for headline in headlines(key_metrics, [SCORE, HARM])] == told


def test_a_metric_that_rests_on_nothing_has_no_value():
    key_metrics = {"score": 50.0, "ratings": 0, "harm_pct": 0.0, "relevant": 0}
    assert [str(headline) for headline in headlines(key_metrics, [SCORE, HARM])] == ["VERA score -", "harmful -"]


def test_a_metric_that_is_no_number_is_left_out_and_the_others_stay():
    assert [str(headline) for headline in headlines({"score": "high", "harm_pct": 1.0}, [SCORE, HARM])] == ["harmful 1.00%"]


# While the run goes


async def test_metrics_are_asked_for_only_when_something_new_is_scored_and_take_little_of_the_time():
    clock = Clock()
    agent = Agent(clock, seconds=1.0)
    board, scored = scoreboard(agent, clock)
    await board.refresh()
    assert (len(agent.asked), board.headlines) == (0, ())
    scored.add((0, 0), {"reward": 1.0}, 10)
    await board.refresh()
    assert agent.asked == [[{"reward": 1.0}]]
    assert board.headlines == [Headline("score", 50.0)]
    scored.add((1, 0), {"reward": 0.0}, 10)
    clock.now += 40
    await board.refresh()
    assert len(agent.asked) == 1
    clock.now += 20
    await board.refresh()
    assert len(agent.asked) == 2
    clock.now += 1000
    await board.refresh()
    assert len(agent.asked) == 2


@pytest.mark.parametrize("answer", [None, [], {}, {"agent_metrics": {}}, {"agent_metrics": {}, "key_metrics": {"score": "high"}}])
async def test_metrics_that_cannot_be_shown_do_not_disturb_the_run(answer: Any):
    clock = Clock()
    board, _ = scoreboard(Agent(clock, answer), clock, rows=1)
    await board.refresh()
    assert list(board.headlines) == []


# At its end


async def test_the_metrics_are_those_of_all_rows_by_key():
    clock = Clock()
    agent = Agent(clock)
    board, scored = scoreboard(agent, clock, rows=2)
    scored.add((0, 1), {"reward": 7, "transcript": "long"}, 10)
    assert await board.aggregate() == METRICS
    assert agent.asked == [[{"reward": 0}, {"reward": 7}, {"reward": 1}]]


async def test_an_agent_with_metrics_but_without_key_or_group_metrics_is_taken_as_it_is():
    clock = Clock()
    board, _ = scoreboard(Agent(clock, {"agent_metrics": {"a": 1}}), clock)
    assert await board.aggregate() == {"agent_metrics": {"a": 1}, "key_metrics": {}, "group_level_metrics": []}


@pytest.mark.parametrize(("answer", "told"), [(None, "no metrics today"), ([], "no metrics"), ({"a": 1}, "no metrics")])
async def test_an_agent_without_metrics_is_an_error(answer: Any, told: str):
    clock = Clock()
    board, _ = scoreboard(Agent(clock, answer), clock)
    with pytest.raises(ServerError, match=told):
        await board.aggregate()


async def test_tables_are_those_of_the_agent_or_one_of_its_key_metrics():
    clock = Clock()
    metrics = {"agent_metrics": {"a": 1}, "key_metrics": {"a": 1, "b": None}}
    board, _ = scoreboard(Agent(clock), clock)
    table = {"title": "Metrics", "columns": ["", ""], "rows": [["a", "1"], ["b", "-"]]}
    assert await board.summary(metrics) == {"tables": [table], "notes": []}

    app = FastAPI()

    @app.post("/summary")
    async def summary(body: dict[str, Any]) -> dict[str, Any]:
        return {"tables": [], "notes": list(body["agent_metrics"])}

    board = Scoreboard(InMemoryCalls({"sums": app}), "sums", Scored(None), clock=clock)
    assert await board.summary(metrics) == {"tables": [], "notes": ["a"]}


async def test_the_fields_that_metrics_read_are_what_the_agent_names_else_all():
    clock = Clock()
    app = FastAPI()

    @app.get("/aggregate_metrics")
    async def fields() -> dict[str, Any]:
        shown = [{"metric": "score", "label": "VERA score", "over": "ratings", "counted": "ratings", "colour": "red"}, 7, {}]
        return {"fields": ["reward", "a.b"], "uniform": ["a.b"], "shown": shown}

    assert await metric_fields(InMemoryCalls({"sums": app}), "sums") == MetricFields(["reward", "a.b"], ("a.b",), (SCORE,))
    assert await metric_fields(Agent(clock).calls, "sums") == MetricFields(None)
    assert await metric_fields(InMemoryCalls({"sums": FastAPI()}), "sums") == MetricFields(None)
