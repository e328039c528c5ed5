# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An endpoint against a real server that misbehaves. Numbers in names are those of the project's list of failures."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from typing import Any

import pytest

from gym_host.models.errors import ChatError
from tests.support.asking import BODY, KEY, Waits, endpoint_at, outcome_of
from tests.support.endpoint import Fault, running_endpoint


def text_of(reply: Any) -> Any:
    return reply.body["choices"][0]["message"]["content"]


async def test_a_call_sends_the_model_the_key_the_headers_and_the_extra_body():
    settings: dict[str, Any] = {"default_headers": {"X-Title": "tests"}, "extra_body": {"top_k": 5, "temperature": 0.6}}
    reply, server = await outcome_of([], body=BODY | {"temperature": 1}, **settings)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == BODY | {"model": "provider-1", "top_k": 5, "temperature": 0.6}
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["x-title"] == "tests"
    assert reply.attempts == 1
    assert reply.sent == {}
    assert 0 < reply.latency < 5


async def test_without_a_key_no_authorization_is_sent():
    _, server = await outcome_of([], api_key="")
    assert "authorization" not in server.requests[0].headers


RETRIED = [
    pytest.param({"kind": "error_in_200"}, "rate_limited", 429, "The test endpoint is busy", id="01-error-in-200"),
    pytest.param(
        {"kind": "error_in_200", "body": {"code": "503", "message": "No room"}}, "server", 503, "No room", id="01-code-as-text"
    ),
    pytest.param({"kind": "no_choices"}, "invalid_reply", 200, "no choice", id="01-choices-null"),
    pytest.param({"kind": "empty_choices"}, "invalid_reply", 200, "no choice", id="01-choices-empty"),
    pytest.param({"kind": "choice_error"}, "server", 502, "Upstream went away", id="02-died-half-way"),
    pytest.param({"kind": "garbage"}, "invalid_reply", 200, "no JSON", id="07-garbage"),
    pytest.param({"kind": "half"}, "invalid_reply", 200, "no JSON", id="07-half-a-json"),
    pytest.param({"kind": "html"}, "invalid_reply", 200, "Please sign in", id="07-html"),
    pytest.param({"kind": "status", "status": 408}, "timeout", 408, "says 408", id="07-408"),
    pytest.param({"kind": "status", "status": 409}, "server", 409, "says 409", id="10-409"),
    pytest.param({"kind": "status", "status": 425}, "server", 425, "says 425", id="10-425"),
    pytest.param({"kind": "status", "status": 429}, "rate_limited", 429, "says 429", id="09-429"),
    pytest.param({"kind": "status", "status": 500}, "server", 500, "says 500", id="10-500"),
    pytest.param({"kind": "status", "status": 502, "body": "<h1>Bad gateway</h1>"}, "server", 502, "Bad gateway", id="10-page"),
    pytest.param({"kind": "status", "status": 503, "body": b""}, "server", 503, "HTTP 503 without a word", id="10-wordless"),
    pytest.param({"kind": "status", "status": 504}, "timeout", 504, "says 504", id="10-504"),
    pytest.param({"kind": "reset_in_body"}, "connection", None, "in the middle of an answer", id="07-reset-in-body"),
    pytest.param({"kind": "reset_in_headers"}, "connection", None, "without an answer", id="07-reset-in-headers"),
    pytest.param({"kind": "cut"}, "connection", None, "without an answer", id="07-cut"),
]


@pytest.mark.parametrize(("fault", "kind", "status", "words"), RETRIED)
async def test_a_failure_that_may_pass_is_retried_and_the_reply_is_whole(fault, kind, status, words):
    reply, _ = await outcome_of([Fault(**fault, attempts=2)])
    assert text_of(reply).endswith("(1)")
    assert reply.attempts in (2, 3)  # the first reset of a call counts as no attempt


@pytest.mark.parametrize(("fault", "kind", "status", "words"), RETRIED)
async def test_a_failure_that_stays_ends_after_bounded_attempts_in_the_providers_words(fault, kind, status, words):
    waits = Waits()
    error, server = await outcome_of([Fault(**fault)], waits=waits, max_attempts=3)
    assert (error.kind, error.status, error.attempts) == (kind, status, 3)
    assert words in error.message
    assert waits.seconds == [0.25, 0.5]  # without chance, half of a wait that doubles
    assert server.counts["provider"] in (3, 4)
    assert len(error.detail) <= 4000
    assert (words in error.detail) or kind in ("connection", "invalid_reply") or "HTTP" in words


PERMANENT = [
    pytest.param({"status": 400, "body": {"error": {"message": "Too long", "code": "context_length_exceeded"}}}, id="16-context"),
    pytest.param({"status": 401, "body": {"error": "Too long a key"}}, id="401"),
    pytest.param({"status": 403, "body": {"detail": "Too long a way"}}, id="403"),
    pytest.param({"status": 404, "body": [{"error": {"message": "Too long a name"}}]}, id="404"),
    pytest.param({"status": 429, "body": {"error": {"message": "Too long unpaid", "code": "insufficient_quota"}}}, id="quota"),
    pytest.param({"status": 307, "body": "Too long a way", "headers": {"Location": "http://127.0.0.1:1/"}}, id="redirect"),
]


@pytest.mark.parametrize("fault", PERMANENT)
async def test_a_refusal_is_not_retried(fault):
    waits = Waits()
    error, server = await outcome_of([Fault(kind="status", **fault)], waits=waits)
    assert (error.kind, error.status, error.attempts) == ("refused", fault["status"], 1)
    assert "Too long" in error.message
    assert waits.seconds == []
    assert server.counts["provider"] == 1


async def test_a_refusal_inside_a_200_is_not_retried_either():
    error, server = await outcome_of([Fault(kind="error_in_200", body={"code": 400, "message": "Too long"})])
    assert (error.kind, error.status) == ("refused", 400)
    assert error.message == f"Too long (HTTP 400 from {server.url}/chat/completions)"
    assert server.counts["provider"] == 1


async def test_words_that_tell_little_stand_with_the_status_the_endpoint_and_the_attempts():
    error, server = await outcome_of([Fault(kind="status", status=500, body=b"boom")], max_attempts=3)
    assert error.message == f"boom (HTTP 500 from {server.url}/chat/completions, 3 attempts)"


@pytest.mark.parametrize(("status", "mend"), [(401, "set api_key"), (403, "api_key"), (404, "check base_url")])
async def test_a_wrong_key_or_place_is_named_without_secrets(status, mend):
    async with running_endpoint(faults=[Fault(kind="status", status=status)]) as server:
        url = server.url.replace("://", "://user:pass-word-1@") + "?sig=a-signature"
        async with endpoint_at(url) as endpoint:
            with pytest.raises(ChatError, match=mend) as caught:
                await endpoint.chat(BODY)
    assert f"{server.url}/chat/completions" in str(caught.value)
    assert "pass-word-1" not in str(caught.value)
    assert "a-signature" not in str(caught.value)


async def test_03_04_unknown_service_tiers_and_null_usage_pass():
    usage = {"prompt_tokens": None, "completion_tokens_details": None}
    body = {"choices": [{"message": {"content": "Hi", "refusal": None}, "finish_reason": "eos"}]}
    for extra in ({"service_tier": "on_demand", "usage": None}, {"service_tier": "standard", "usage": usage}, {"error": None}):
        reply, _ = await outcome_of([Fault(kind="status", status=200, body=body | extra)])
        assert reply.body == body | extra


async def test_05_a_reply_that_is_all_reasoning_passes():
    choice = {"message": {"content": None, "reasoning_content": "Hm."}, "finish_reason": "length"}
    reply, _ = await outcome_of([Fault(kind="status", status=200, body={"choices": [choice]})])
    assert reply.body["choices"] == [choice]


async def test_a_json_of_a_wrong_content_type_passes():
    reply, _ = await outcome_of([Fault(kind="wrong_content_type")])
    assert text_of(reply).endswith("(1)")


async def test_half_an_emoji_at_the_end_of_a_cut_reply_is_replaced():
    body = b'{"choices": [{"message": {"content": "Well \\ud83d\\ude42 \\ud83d"}, "finish_reason": "length"}]}'
    reply, _ = await outcome_of([Fault(kind="status", status=200, body=body)])
    assert text_of(reply) == "Well \U0001f642 \ufffd"


async def test_07_a_dead_port_fails_after_bounded_attempts_and_is_logged_at_once(caplog):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        async with endpoint_at(url, max_attempts=3) as endpoint:
            for _ in range(4):
                with pytest.raises(ChatError, match=r"No connection to .*refused") as caught:
                    await endpoint.chat(BODY)
    assert (caught.value.kind, caught.value.status, caught.value.attempts) == ("connection", None, 3)
    [line] = caplog.records
    assert line.levelno == logging.WARNING
    assert "attempt 1 of 3" in line.message


async def test_07_a_name_that_does_not_exist_is_said_to():
    async with endpoint_at("http://no-such-host.invalid/v1", max_attempts=2) as endpoint:
        with pytest.raises(ChatError, match="no-such-host.invalid.* cannot be looked up") as caught:
            await endpoint.chat(BODY)
    assert (caught.value.kind, caught.value.attempts) == ("connection", 2)


@pytest.mark.parametrize("kind", ["silence", "slow"])
async def test_07_a_server_that_never_finishes_ends_in_a_timeout(kind):
    error, server = await outcome_of([Fault(kind=kind, seconds=20)], request_timeout_seconds=0.1, max_attempts=2)
    assert (error.kind, error.status, error.attempts) == ("timeout", None, 2)
    assert "did not answer within 0.1 seconds" in error.message
    assert server.counts["provider"] == 2


async def test_an_endless_answer_is_given_up(monkeypatch):
    monkeypatch.setattr("gym_host.models.transport._LARGEST_ANSWER", 3 * 2**20)
    error, _ = await outcome_of([Fault(kind="huge")])
    assert (error.kind, error.attempts) == ("invalid_reply", 1)
    assert "larger than 3 MiB" in error.message


async def test_a_request_of_several_megabytes_arrives():
    body = {"messages": [{"role": "user", "content": "word " * 500_000}]}
    reply, server = await outcome_of([], body=body)
    assert server.requests[0].body["messages"] == body["messages"]
    assert server.requests[0].headers["content-type"] == "application/json"


async def test_08_a_stale_connection_is_replaced_without_a_word(caplog):
    waits = Waits()
    async with running_endpoint(faults=[Fault(kind="stale")]) as server, endpoint_at(server.url, waits=waits) as endpoint:
        replies = [await endpoint.chat(BODY) for _ in range(5)]
        many = await asyncio.gather(*(endpoint.chat(BODY) for _ in range(50)))
    assert {reply.attempts for reply in replies + many} == {1}
    assert server.counts["fault/stale"] >= 2
    assert waits.seconds == []
    assert caplog.records == []


NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "45"}, 45.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After-Ms": "1500", "Retry-After": "45"}, 1.5),
        ({"Retry-After": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"Retry-After": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.25),
        ({"Retry-After": "0"}, 0.25),
        ({"Retry-After": "-1"}, 0.25),
        ({"Retry-After-Ms": "0"}, 0.25),
        ({"Retry-After": "soon"}, 0.25),
        ({"Retry-After": "nan"}, 0.25),
    ],
)
async def test_09_retry_after_is_honoured(headers, seconds):
    waits = Waits()
    fault = Fault(kind="status", status=429, headers=headers, attempts=1)
    reply, _ = await outcome_of([fault], waits=waits, now=lambda: NOW)
    assert reply.attempts == 2
    assert waits.seconds == [pytest.approx(seconds)]


async def test_09_a_wait_above_the_cap_fails_at_once_and_says_so():
    waits = Waits()
    error, _ = await outcome_of([Fault(kind="status", status=429, headers={"Retry-After": "75"})], waits=waits)
    assert (error.kind, error.attempts, waits.seconds) == ("rate_limited", 1, [])
    assert "asks to wait 75 seconds, more than retry_after_cap_seconds, 60" in error.message


@pytest.mark.parametrize(("jump", "waits_for"), [(-86_400, None), (86_400, 0.25)])
async def test_09_a_date_read_by_a_clock_that_has_jumped_costs_a_wait_or_a_clean_failure(jump, waits_for):
    waits = Waits()
    fault = Fault(kind="status", status=429, headers={"Retry-After": "Fri, 15 Jan 2027 08:00:30 GMT"}, attempts=1)
    outcome, _ = await outcome_of([fault], waits=waits, now=lambda: NOW + jump)
    if waits_for is None:
        assert (outcome.kind, waits.seconds) == ("rate_limited", [])
        assert "asks to wait 86430 seconds" in outcome.message
    else:
        assert (outcome.attempts, waits.seconds) == (2, [waits_for])


@pytest.mark.parametrize(("asked", "seconds"), [("0", [0.25, 0.5, 1.0]), ("0.4", [0.4, 0.5, 1.0])])
async def test_09_a_server_that_asks_for_too_short_a_wait_is_left_alone_for_longer_after_each_failure(asked, seconds):
    waits = Waits()
    fault = Fault(kind="status", status=429, headers={"Retry-After": asked})
    await outcome_of([fault], waits=waits, max_attempts=4)
    assert waits.seconds == seconds


async def test_waits_are_spread_by_chance():
    waits = Waits()
    await outcome_of([Fault(kind="status")], waits=waits, chance=lambda: 0.5, max_attempts=3)
    assert waits.seconds == [0.375, 0.75]


async def test_33_a_limit_above_a_hundred_is_really_reached_and_kept():
    body = [{"messages": [{"role": "user", "content": f"Hello {number}"}]} for number in range(500)]
    async with running_endpoint(latency=0.2) as server, endpoint_at(server.url, num_concurrent_requests=300) as endpoint:
        started = time.perf_counter()
        await asyncio.gather(*map(endpoint.chat, body))
        seconds = time.perf_counter() - started
    assert server.max_concurrency == 300
    assert seconds < 5


async def test_33_the_limit_holds_while_connections_break_and_waiting_calls_go_first_come_first_served():
    faults = [Fault(kind="stale"), Fault(kind="cut", probability=0.2, attempts=2)]
    body = [{"messages": [{"role": "user", "content": f"Hello {number}"}]} for number in range(60)]
    async with (
        running_endpoint(latency=0.005, faults=faults) as server,
        endpoint_at(server.url, num_concurrent_requests=3) as endpoint,
    ):
        await asyncio.gather(*map(endpoint.chat, body))
    assert server.max_concurrency <= 3
    first_seen = list(dict.fromkeys(int(body["messages"][0]["content"].split()[1]) for body in server.bodies()))
    assert all(abs(place - number) <= 6 for place, number in enumerate(first_seen))


async def test_a_cancelled_call_gives_its_place_back():
    async with running_endpoint(faults=[Fault(kind="silence", seconds=20, first=1)]) as server:
        async with endpoint_at(server.url, num_concurrent_requests=1) as endpoint:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(endpoint.chat(BODY), 0.1)
            assert (await endpoint.chat(BODY)).attempts == 1


async def test_a_proxy_of_the_environment_is_used(monkeypatch):
    async with running_endpoint() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        async with endpoint_at("http://provider.example/v1") as endpoint:
            await endpoint.chat(BODY)
    assert proxy.counts["provider"] == 1
