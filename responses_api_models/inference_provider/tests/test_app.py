# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The model server, asked over HTTP, in front of a real endpoint that misbehaves."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import uvicorn
import yaml
from fastapi import FastAPI

from gym_host.config.settings import parse_settings
from gym_host.errors import ConfigError
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import ServerContext
from responses_api_models.inference_provider.app import Settings, create_app
from tests.support.endpoint import Fault, TestEndpoint, running_endpoint

FOLDER = Path(__file__).parents[1]
KEY = "sk-very-secret-0123456789"
CHAT = {"messages": [{"role": "user", "content": "Hello"}]}
RESPONSES = {"input": "Hello"}


@asynccontextmanager
async def on_a_port(app: FastAPI) -> AsyncIterator[str]:
    """The app under uvicorn, as a host starts it; gives its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


@asynccontextmanager
async def server_over(*faults: Fault, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, TestEndpoint]]:
    """The model server over an endpoint, and a client of it."""
    async with running_endpoint(faults=faults) as endpoint:
        values = {"base_url": endpoint.url, "api_key": KEY, "model": "provider-1", "backoff_base_seconds": 0, **settings}
        app = create_app(parse_settings(Settings, values, where="policy_model"), ServerContext("policy_model", InMemoryCalls()))
        async with on_a_port(app) as url, httpx.AsyncClient(base_url=url) as client:
            yield client, endpoint


async def test_it_says_that_it_is_ready():
    async with server_over() as (client, _):
        assert (await client.get("/livez")).json() == {"status": "ok"}
        assert (await client.get("/")).json()["status"] == "ok"


async def test_both_routes_give_the_same_reply_in_their_dialects():
    async with server_over(default_headers={"X-Title": "tests"}, extra_body={"top_k": 5}) as (client, endpoint):
        chat = await client.post("/v1/chat/completions", json=CHAT | {"model": "asked-for"})
        response = await client.post("/v1/responses", json=RESPONSES | {"model": "asked-for", "max_output_tokens": 9})
    text = chat.json()["choices"][0]["message"]["content"]
    assert response.json()["output"][0]["content"][0]["text"] == text
    assert {chat.json()["model"], response.json()["model"]} == {"provider-1-served"}
    assert endpoint.bodies() == [
        CHAT | {"model": "provider-1", "top_k": 5},
        CHAT | {"model": "provider-1", "top_k": 5, "max_tokens": 9},
    ]
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in endpoint.requests)
    assert all(request.headers["x-title"] == "tests" for request in endpoint.requests)


async def test_the_openai_client_reads_both():
    async with server_over() as (client, _):
        async with openai.AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0) as asking:
            completion = await asking.chat.completions.create(model="any", messages=[{"role": "user", "content": "Hello"}])
            response = await asking.responses.create(model="any", input="Hello")
    assert response.output_text == completion.choices[0].message.content != ""
    assert response.status == "completed"
    assert response.usage is not None
    assert response.usage.total_tokens > 0


@pytest.mark.parametrize(("route", "body"), [("/v1/responses", RESPONSES), ("/v1/chat/completions", CHAT)])
@pytest.mark.parametrize(
    ("fault", "status", "kind", "code"),
    [
        ({"kind": "status", "status": 500}, 502, "server", 500),
        ({"kind": "error_in_200"}, 429, "rate_limited", 429),
        ({"kind": "status", "status": 504}, 504, "timeout", 504),
        ({"kind": "silence", "seconds": 20}, 504, "timeout", None),
        ({"kind": "cut"}, 502, "connection", None),
        ({"kind": "choice_error"}, 502, "server", 502),
        ({"kind": "html"}, 502, "invalid_reply", 200),
        ({"kind": "status", "status": 400}, 400, "refused", 400),
        ({"kind": "status", "status": 401}, 502, "refused", 401),
    ],
)
async def test_a_call_that_fails_for_good_is_an_error_in_openais_shape(route, body, fault, status, kind, code):
    async with server_over(Fault(**fault), max_attempts=2, request_timeout_seconds=0.1) as (client, _):
        answer = await client.post(route, json=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["code"]) == (status, kind, code)
    assert error["attempts"] == (1 if kind == "refused" else 2)
    assert error["message"]
    assert KEY not in answer.text


@pytest.mark.parametrize(
    ("fault", "refused"),
    [
        ({"kind": "status", "status": 401}, 2),
        ({"kind": "status", "status": 404}, 2),
        ({"kind": "unsupported", "parameter": "temperature"}, 2),
        ({"kind": "status", "status": 400}, 0),
        ({"kind": "status", "status": 500}, 0),
    ],
)
async def test_it_says_how_often_it_was_refused_for_what_is_the_same_in_every_call(fault, refused):
    async with server_over(Fault(**fault, first=2), max_attempts=1) as (client, _):
        body = CHAT | {"temperature": 0.5}
        messages = [
            (await client.post("/v1/chat/completions", json=body)).json().get("error", {}).get("message") for _ in range(3)
        ]
        standing = (await client.get("/standing")).json()
    assert messages[2] is None
    assert standing == {"answered": 1, "refused": refused, "refusal": messages[1] if refused else ""}


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
@pytest.mark.parametrize(
    "content", [b"", b"[1]", b"{", b"{}", b'{"input": null, "messages": null}', b'{"input": 3, "messages": 3}']
)
async def test_a_request_that_cannot_be_read_is_a_422_that_names_the_field(path, content):
    async with server_over() as (client, endpoint):
        answer = await client.post(path, content=content)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["param"] in ("body", "input", "messages")
    assert error["param"] in error["message"]
    assert endpoint.requests == []


async def test_streaming_is_refused_by_name():
    async with server_over() as (client, _):
        answers = [
            await client.post("/v1/chat/completions", json=CHAT | {"stream": True}),
            await client.post("/v1/responses", json=RESPONSES | {"stream": True}),
        ]
    assert [(answer.status_code, answer.json()["error"]["param"]) for answer in answers] == [(422, "stream")] * 2


async def test_11_what_was_really_sent_is_told():
    faults = [
        Fault(kind="unsupported", parameter="reasoning_effort"),
        Fault(kind="unsupported", parameter="temperature"),
        Fault(kind="unsupported", parameter="max_tokens", instead="max_completion_tokens"),
    ]
    body = RESPONSES | {"reasoning": {"effort": "low"}, "temperature": 0, "max_output_tokens": 9}
    async with server_over(*faults, adaptable_parameters=["reasoning_effort"]) as (client, endpoint):
        by_hand = await client.post("/v1/responses", json=body)
        adapted = await client.post("/v1/responses", json=body, headers={"X-Adaptable-Parameters": "top_p, temperature"})
    assert by_hand.status_code == 400
    assert "`temperature`, which was set by hand" in by_hand.json()["error"]["message"]
    sent = {"reasoning_effort": None, "temperature": None, "max_tokens": None, "max_completion_tokens": 9}
    assert adapted.json()["x_sent_parameters"] == sent
    assert endpoint.bodies()[-1] == CHAT | {"model": "provider-1", "max_completion_tokens": 9}


async def test_33_its_limit_is_the_one_of_the_settings():
    bodies = [{"input": f"Hello {number}"} for number in range(40)]
    async with server_over(num_concurrent_requests="7") as (client, endpoint):
        endpoint.latency = 0.02
        await asyncio.gather(*(client.post("/v1/responses", json=body) for body in bodies))
    assert endpoint.max_concurrency == 7


def test_34_settings_show_no_secret():
    secrets = ["pass-word-1", "header-secret-1", "body-secret-1", KEY]
    values = {
        "base_url": "http://user:pass-word-1@host/v1",
        "api_key": KEY,
        "model": "m",
        "default_headers": {"X-Gateway": "header-secret-1"},
        "extra_body": {"token": "body-secret-1"},
    }
    shown = repr(Settings.model_validate(values))
    with pytest.raises(ValueError, match="max_attempts") as caught:
        Settings.model_validate(values | {"max_attempts": "many", "api_key": 3})
    assert not any(secret in shown + str(caught.value) for secret in secrets)


def test_27_a_misspelt_setting_is_named_with_the_right_one():
    with pytest.raises(ConfigError, match="default_headers"):
        parse_settings(Settings, {"base_url": "http://host/v1", "model": "m", "default_header": {}}, where="policy_model")


def test_the_shipped_configuration_holds_the_documented_defaults():
    config = yaml.safe_load((FOLDER / "configs" / "inference_provider.yaml").read_text(encoding="utf-8"))
    block = config["policy_model"]["responses_api_models"]["inference_provider"]
    assert {name: block[name] for name in ("base_url", "api_key", "model")} == {
        "base_url": "${policy_base_url}",
        "api_key": "${policy_api_key}",
        "model": "${policy_model_name}",
    }
    required = {"base_url": "http://host/v1", "api_key": "k", "model": "m"}
    assert Settings.model_validate(block | required) == Settings.model_validate(required)
