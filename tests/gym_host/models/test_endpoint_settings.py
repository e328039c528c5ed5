# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What an endpoint is told, and that none of its secrets gets out (number 34 of the project's list of failures)."""

from __future__ import annotations

from typing import Any

import pytest

from gym_host.errors import ConfigError
from gym_host.models.endpoint_settings import EndpointSettings
from gym_host.models.errors import ChatError
from tests.support.asking import BODY, KEY, endpoint_at, outcome_of
from tests.support.endpoint import Fault, running_endpoint


async def test_34_no_secret_appears_in_errors_logs_or_representations(caplog):
    secrets = {"header": "header-secret-1", "body": "body-secret-1", "user": "pass-word-1", "query": "a-signature-1", "key": KEY}
    echo = {"error": {"message": "You sent " + ", ".join(secrets.values()), "raw": " ".join(secrets.values())}}
    async with running_endpoint(faults=[Fault(kind="status", body=echo)]) as server:
        url = server.url.replace("://", f"://user:{secrets['user']}@") + f"?sig={secrets['query']}"
        settings: dict[str, Any] = {
            "default_headers": {"X-Gateway": secrets["header"]},
            "extra_body": {"provider": {"token": secrets["body"]}},
        }
        async with endpoint_at(url, **settings, max_attempts=2) as endpoint:
            with pytest.raises(ChatError, match=r"You sent \*\*\*\*, \*\*\*\*") as caught:
                await endpoint.chat(BODY)
    error = caught.value
    shown = [repr(endpoint), repr(endpoint.settings), str(error), repr(error), error.detail, caplog.text]
    for secret in secrets.values():
        assert not any(secret in text for text in shown), secret


async def test_34_a_key_is_masked_before_a_long_answer_is_cut():
    padding = "x " * 1990
    error, _ = await outcome_of([Fault(kind="status", body=padding + KEY)])
    assert KEY[:8] not in error.detail


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"base_url": "api.example.com/v1"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"base_url": "http://user:pass-word-1@:x/v1"}, "base_url"),
        ({"api_key": "sk-1\nX-Evil: 1"}, "api_key"),
        ({"default_headers": {"X-Title": "a\r\nb"}}, "default_headers"),
        ({"model": ""}, "model"),
        ({"num_concurrent_requests": 0}, "num_concurrent_requests"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_any_request(settings: dict[str, Any], where):
    with pytest.raises(ConfigError, match=where) as caught:
        EndpointSettings(**{"base_url": "http://127.0.0.1/v1", "model": "m", **settings})
    assert "pass-word-1" not in str(caught.value)
    assert "sk-1" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://host/v1", "http://host/v1/chat/completions"),
        ("http://host/v1/", "http://host/v1/chat/completions"),
        ("http://host/v1/chat/completions", "http://host/v1/chat/completions"),
        ("https://me:pw@host:8443/v1?api-version=2", "https://host:8443/v1/chat/completions?api-version=2"),
    ],
)
def test_the_route_is_put_between_path_and_query(base_url, url):
    assert EndpointSettings(base_url=base_url, model="m").url == url


async def test_a_user_in_the_url_becomes_basic_authorization():
    async with running_endpoint() as server, endpoint_at(server.url.replace("://", "://me:p%40ss@"), api_key="") as endpoint:
        await endpoint.chat(BODY)
    assert server.requests[0].headers["authorization"] == "Basic bWU6cEBzcw=="
