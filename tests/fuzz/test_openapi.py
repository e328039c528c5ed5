# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Every server on a port, asked whatever its own description of its endpoints lets one think of: it answers, and never breaks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import cache
from itertools import repeat
from typing import Any

import orjson
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from starlette.types import ASGIApp

from gym_host.serving.admission import Admission
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.fleet import Fleet
from gym_host.serving.hangup import CancelledOnHangup
from gym_host.serving.head import head_app
from gym_host.serving.head_notes import HeadNote
from gym_host.serving.server import JsonApp, ServerContext
from responses_api_models.inference_provider import app as provider_app
from tests.support.demo import demo_servers
from tests.support.models import Listed, model_server
from tests.support.serving import serving

NOTE = HeadNote(url="http://127.0.0.1:1", pid=1, machine="here", started_at="2026-01-01T00:00:00+00:00")
SERVERS = ("verifier", "agent", "policy", "provider", "head")

Case = schemathesis.Case[Any]

asked = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def provider(url: str) -> JsonApp:
    parsed = provider_app.Settings(base_url=url, model="m", max_attempts=1)
    app = provider_app.create_app(parsed, ServerContext("provider", InMemoryCalls()))
    assert isinstance(app, JsonApp)
    return app


@cache
def descriptions() -> dict[str, dict[str, Any]]:
    """What each server says of its endpoints."""
    apps: dict[str, Any] = demo_servers().apps | {"provider": provider("http://127.0.0.1:1/v1")}
    apps["head"] = head_app(NOTE, Fleet([], print), {})
    return {name: apps[name].openapi() for name in SERVERS}


def description_of(name: str) -> schemathesis.BaseSchema:
    return schemathesis.openapi.from_dict(descriptions()[name])


class Ports:
    """The servers on ports, in an event loop of their own, since a test that waits for an answer serves nothing."""

    def __init__(self) -> None:
        self.urls: dict[str, str] = {}
        self._up, self._stop = threading.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),), daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._up.wait(30)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        self._loop.close()

    async def _serve(self) -> None:
        async with AsyncExitStack() as stack:
            endpoint = await stack.enter_async_context(serving(model_server(Listed(repeat("Good day.")))))
            apps: dict[str, ASGIApp] = {**demo_servers(judge_parse_retries=0).apps, "provider": provider(f"{endpoint}/v1")}
            apps["head"] = head_app(NOTE, Fleet([], print), {})
            for name in SERVERS:
                app = Admission(CancelledOnHangup(apps[name]), token=None, largest_body=2**20)
                self.urls[name] = await stack.enter_async_context(serving(app))
            self._up.set()
            await self._stop.wait()


@pytest.fixture(scope="module")
def ports() -> Iterator[Ports]:
    running = Ports()
    running.start()
    yield running
    running.stop()


@cache
def session() -> requests.Session:
    return requests.Session()


def ask(case: Case, url: str) -> None:
    """Asks, and holds the answer against what every answer must be."""
    answer = case.call(base_url=url, session=session(), timeout=20)
    assert answer.status_code not in (500, 501), (answer.status_code, answer.text)
    if answer.status_code == 422:
        said = orjson.loads(answer.content)
        fault = said.get("detail") or said["error"]["message"]
        assert fault
        if isinstance(fault, list):
            assert all(entry["loc"] and entry["msg"] for entry in fault)


@description_of("verifier").parametrize()
@asked
def test_the_verifier_answers(case: Case, ports: Ports):
    ask(case, ports.urls["verifier"])


@description_of("agent").parametrize()
@asked
def test_the_agent_answers(case: Case, ports: Ports):
    ask(case, ports.urls["agent"])


@description_of("policy").parametrize()
@asked
def test_a_scripted_model_answers(case: Case, ports: Ports):
    ask(case, ports.urls["policy"])


@description_of("provider").parametrize()
@asked
def test_a_model_in_front_of_an_endpoint_answers(case: Case, ports: Ports):
    ask(case, ports.urls["provider"])


@description_of("head").parametrize()
@asked
def test_the_head_answers(case: Case, ports: Ports):
    ask(case, ports.urls["head"])


@pytest.mark.parametrize("name", SERVERS)
def test_every_endpoint_is_described(name: str):
    paths = set(description_of(name).raw_schema["paths"])
    wanted = {
        "verifier": {"/verify", "/aggregate_metrics", "/compare", "/summary", "/seed_session", "/reverify_mode"},
        "agent": {"/run", "/v1/responses", "/aggregate_metrics", "/summary"},
        "policy": {"/v1/responses", "/v1/chat/completions"},
        "provider": {"/v1/responses", "/v1/chat/completions", "/preflight", "/standing"},
        "head": {"/servers", "/config"},
    }[name]
    assert wanted | {"/", "/livez"} == paths
