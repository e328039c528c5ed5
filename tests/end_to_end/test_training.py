# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in training under our servers: what it sampled arrives untouched, in order, and joined into one sequence."""

from __future__ import annotations

from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import ServerContext
from tests.support.demo import demo_rows, demo_servers
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
