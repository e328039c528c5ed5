# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in training under our servers: what it sampled arrives untouched, in order, and joined into one sequence."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from fastapi import FastAPI, Request

from gym_host.serving.calls import Cookies, HttpCalls, InMemoryCalls
from gym_host.serving.server import JsonBytes, ServerContext
from tests.support.demo import demo_agent, demo_rows, demo_servers, demo_verifier, scripted_model
from tests.support.models import message, response
from tests.support.serving import serving
from tests.support.token_policy import create_app, texts_of
from tests.support.tokens import assert_joined
from vera_mh.models import Json


async def rollout() -> Json:
    servers = demo_servers(policy=create_app(ServerContext("policy", InMemoryCalls())))
    row = next(iter(demo_rows().values()))
    scored: Json = await servers.call("agent", "/run", row)
    return scored


async def test_the_tokens_and_log_probabilities_of_every_turn_arrive_in_order_and_join_into_one_sequence():
    scored = await rollout()
    output = scored["response"]["output"]
    replies = [turn["response"] for turn in scored["conversation"] if turn["speaker"] == "provider"]
    assert assert_joined(output) == len(replies) > 3
    expected = [f"{kind}_{turn}" for turn in range(1, len(replies) + 1) for kind in ("rs", "msg")]
    assert [item["id"] for item in output if "id" in item] == expected


async def test_the_verdict_is_on_the_text_alone():
    scored = await rollout()
    assert isinstance(scored["reward"], float)
    assert texts_of(scored["response"]["output"]) == [turn["response"] for turn in scored["conversation"]]
    assert all("token" not in str(turn) for turn in scored["conversation"])
    again = await demo_servers().call("verifier", "/verify", {"response": scored["response"]})
    assert (again["ratings"], again["reward"]) == (scored["ratings"], scored["reward"])


def full_app() -> FastAPI:
    """A policy in training whose context is full after one turn, as NeMo Gym's `vllm_model` answers then."""
    app, whole = FastAPI(), create_app(ServerContext("policy", InMemoryCalls()))
    calls = InMemoryCalls({"policy": whole})

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> JsonBytes:
        if not any(item.get("role") == "assistant" for item in body["input"]):
            return JsonBytes(await calls.call("policy", "/v1/responses", body))
        cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "usage": None}
        return JsonBytes(response(message(""), **cut))

    return app


async def test_a_context_that_is_full_behind_an_empty_reply_is_masked_and_the_turns_before_keep_their_tokens():
    failed = await demo_servers(policy=full_app()).call("agent", "/run", next(iter(demo_rows().values())))
    assert (failed["_ng_failure_class"], failed["failure_stage"]) == ("vera_mh_simulation_failed", "provider_turn_4")
    assert "longer than the model's context length" in failed["error"]
    assert (failed["mask_sample"], failed["instance_config"], failed["reward"]) == (True, {"mask_sample": True}, 0.0)
    assert "ratings" not in failed
    output = failed["response"]["output"]
    assert assert_joined(output) == 1
    assert [item.get("role") for item in output] == ["user", None, "assistant", "user"]


class Replicas:
    """A model server that knows a caller again by its cookie, as NeMo Gym's do to keep a session on one replica.

    Args:
        model: What answers.
    """

    def __init__(self, model: FastAPI) -> None:
        self.calls: Counter[str] = Counter()
        self.app, inner = FastAPI(), InMemoryCalls({"model": model})

        @self.app.post("/v1/{path:path}")
        async def ask(path: str, request: Request, body: dict[str, Any]) -> JsonBytes:
            session = request.cookies.get("session") or f"session {len(self.calls)}"
            self.calls[session] += 1
            answer = JsonBytes(await inner.call("model", f"/v1/{path}", body))
            answer.set_cookie("session", session)
            return answer


class Mixed(InMemoryCalls):
    """Calls of which some go to servers on ports."""

    def __init__(self, http: HttpCalls) -> None:
        super().__init__({"user": scripted_model("user", "persona")})
        self.apps |= {"verifier": demo_verifier(self), "agent": demo_agent(self)}
        self._http = http

    async def call(self, server: str, path: str, body: object | None = None, *, cookies: Cookies | None = None) -> Any:
        if server in self._http.addresses:
            return await self._http.call(server, path, body, cookies=cookies)
        return await super().call(server, path, body, cookies=cookies)


async def test_the_turns_of_a_conversation_stay_on_one_replica_and_so_do_the_questions_about_it():
    policy, judge = (Replicas(scripted_model(name, script)) for name, script in (("policy", "careless"), ("judge", "judge")))
    async with serving(policy.app) as policy_url, serving(judge.app) as judge_url:
        http = HttpCalls({"policy": policy_url, "judge": judge_url})
        servers = Mixed(http)
        scored = await asyncio.gather(*(servers.call("agent", "/run", row) for row in demo_rows().values()))
        await http.aclose()
    assert len(policy.calls) == len(judge.calls) == len(scored) > 3
    assert sorted(policy.calls.values()) == sorted(row["provider_turn_count"] for row in scored)
    assert sorted(judge.calls.values()) == sorted(row["judge_calls"] for row in scored)
