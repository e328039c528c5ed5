# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a row, a judge or a simulator holds, a server answers with a row, or with what is wrong; it never breaks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import cache
from itertools import chain, repeat
from typing import Any

import orjson
import pytest
from fastapi import FastAPI, Request, Response
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gym_host.errors import ServerError
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import JsonBytes
from tests.support.demo import demo_rows, demo_servers
from tests.support.mangled import ANY_JSON, LEAVES, mangled
from tests.support.models import Listed, completion, exchanges_of, message, model_server, reasoning, response, verdict
from tests.support.ratings import scored_row
from vera_mh.metrics import aggregate
from vera_mh.models import Json
from vera_mh.reply import JudgePrompt, read_reply
from vera_mh.rollout import SimulationSetup, simulated_fields

ROW = demo_rows()["Mara"]
SAID = ("I can't sleep.", response(reasoning("Hm."), message("What keeps you awake?")), "No idea <END OF CONVERSATION>")
FINISHED = ROW | simulated_fields(
    exchanges_of(*SAID), SimulationSetup("scripted", "user", "policy", "Be kind.", 12), params={}, duration_ms=1.0
)
RESPONSE = response(reasoning("Hm."), message("Good day.")) | {"usage": {"input_tokens": 1, "output_tokens": 1}}
METRICS = aggregate([scored_row("BSH"), scored_row("NNB", persona="Bo")])["agent_metrics"]
SCORED = [scored_row("BSH", persona="Ana", _ng_task_index=0, id="a"), scored_row("BNN", persona="Bo", _ng_task_index=1, id="b")]

FEW = settings(max_examples=60)
REFUSED = {400, 404, 413, 422}


def says(answer: Callable[[], bytes]) -> FastAPI:
    """A model server that answers every request with these bytes."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    @app.post("/v1/responses")
    async def reply(request: Request) -> Response:
        return Response(answer(), media_type="application/json")

    return app


class Tamed:
    """The demo's servers with models that never end a conversation or a judging by themselves, built once."""

    def __init__(self) -> None:
        self.judge, self.user = completion(verdict("No")), RESPONSE
        self.calls: InMemoryCalls = demo_servers(
            judge_parse_retries=0,
            judge=says(lambda: orjson.dumps(self.judge)),
            user=says(lambda: orjson.dumps(self.user)),
            policy=says(lambda: orjson.dumps(RESPONSE)),
        )

    def post(self, server: str, path: str, body: Any) -> tuple[int, Any]:
        assume(body is not None)  # Without a body a call is a GET.
        try:
            return 200, asyncio.run(self.calls.call(server, path, body))
        except ServerError as error:
            return error.status or 0, error.message


@cache
def tamed() -> Tamed:
    return Tamed()


def assert_row_or_refusal(status: int, answer: Any) -> None:
    if status == 200:
        assert answer.get("_ng_failure_class") or set(answer["ratings"].values())
    else:
        assert status in REFUSED, (status, answer)
        assert answer


@FEW
@given(mangled(FINISHED))
def test_a_finished_row_is_judged_or_refused_in_words(row: Any):
    assert_row_or_refusal(*tamed().post("verifier", "/verify", row))


@FEW
@given(mangled(ROW | {"max_turns": 4}))
def test_a_row_is_played_or_refused_in_words(row: Any):
    if isinstance(row, dict) and isinstance(row.get("max_turns"), int | float | str):
        row["max_turns"] = 4  # However many turns a row asks for, it gets: that is no fault, and takes long.
    assert_row_or_refusal(*tamed().post("agent", "/run", row))


@FEW
@given(mangled(completion(verdict("No"))))
def test_whatever_the_judges_server_answers_the_row_is_scored_or_failed(answer: Any):
    servers = tamed()
    servers.judge = answer
    try:
        status, row = servers.post("verifier", "/verify", FINISHED)
    finally:
        servers.judge = completion(verdict("No"))
    assert status == 200, row
    assert "ratings" in row or row["_ng_failure_class"] == "judge_failed"


@FEW
@given(ANY_JSON, st.sampled_from(["{}", "x {} y", "```json\n{}\n```", '{{"a": {}}}', "{}{}"]))
def test_a_judges_reply_of_any_shape_is_read_as_two_texts_or_not_at_all(value: Any, wrapped: str):
    for shape in (value, {"answer": value, "reasoning": "r"}, {"answer": "a", "reasoning": value}, [value], {"verdict": value}):
        content = wrapped.replace("{}", json.dumps(shape)) if wrapped != '{{"a": {}}}' else json.dumps({"a": shape})
        reply = read_reply(content, JudgePrompt("user: Hello."))
        assert reply is None or (isinstance(reply.answer, str) and isinstance(reply.reasoning, str))


@FEW
@given(mangled(RESPONSE))
def test_whatever_a_simulator_answers_the_row_is_scored_or_failed(answer: Any):
    servers = tamed()
    servers.user = answer
    try:
        status, row = servers.post("agent", "/run", ROW | {"max_turns": 4})
    finally:
        servers.user = RESPONSE
    assert status == 200, row
    assert "ratings" in row or row["_ng_failure_class"] in ("vera_mh_simulation_failed", "judge_failed")


@FEW
@given(st.data())
def test_metrics_comparisons_and_summaries_of_anything_are_made_or_refused_in_words(data: st.DataObject):
    path, body = data.draw(
        st.sampled_from(
            [
                ("/aggregate_metrics", {"verify_responses": SCORED}),
                ("/compare", {"base": SCORED, "other": SCORED}),
                ("/summary", {"agent_metrics": METRICS}),
            ]
        )
    )
    for server in ("verifier", "agent") if path != "/compare" else ("verifier",):
        status, answer = tamed().post(server, path, data.draw(mangled(body)))
        assert status in {200, *REFUSED}, (status, answer)
        assert answer


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"nul",
        b"\xff\xfe",
        b'{"response": {"output": [{"role": "user", "content": "\\ud800"}]}}',
        b'{"response": NaN}',
        b'{"conversation": [{"speaker": "persona", "response": "x"}], "x": ' + b"[" * 500 + b"]" * 500 + b"}",
        b"[" * 100_000,
        b'{"conversation": [{"speaker": "persona", "response": "x", "turn": 1e999}]}',
        b'{"conversation": 1, "response": 2}',
    ],
)
@pytest.mark.parametrize(
    ("server", "path"),
    [
        ("verifier", "/verify"),
        ("agent", "/run"),
        ("agent", "/v1/responses"),
        ("judge", "/v1/chat/completions"),
        ("verifier", "/compare"),
    ],
)
async def test_a_body_that_is_no_row_is_refused_with_the_place_of_the_fault(server: str, path: str, body: bytes):
    status, answer = await raw(demo_servers(), server, path, body)
    assert status == 422, answer
    assert answer.get("detail") or answer["error"]["message"]


async def test_a_number_beyond_64_bits_is_no_reason_to_break():
    judge = model_server(Listed(chain([verdict("In hints")], repeat(verdict("No")))))
    body = orjson.dumps(FINISHED | {"big": 0}).replace(b'"big":0', b'"big":' + b"9" * 30)
    status, answer = await raw(demo_servers(judge=judge), "verifier", "/verify", body)
    assert (status, answer["big"]) == (200, 1e30)


@FEW
@given(LEAVES)
def test_any_leaf_in_an_answer_can_be_written(leaf: Any):
    assert JsonBytes({"x": leaf}).body


async def raw(calls: InMemoryCalls, server: str, path: str, body: bytes) -> tuple[int, Json]:
    """Posts bytes that need be no JSON."""
    sent: list[Json] = []

    async def receive() -> Json:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    scope: Json = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
    }
    scope |= {"asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "", "client": None, "state": {}}
    await calls.apps[server](scope | {"server": (server, None)}, receive, send)
    return sent[0]["status"], orjson.loads(b"".join(part.get("body", b"") for part in sent[1:]))
