# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Who may ask a server on a port, and how much they may send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from io import BytesIO

import aiohttp
import pytest
from fastapi import FastAPI, Request
from starlette.types import ASGIApp

from gym_host.config.settings import ServerSettings
from gym_host.errors import ConfigError, ServerError
from gym_host.serving.admission import MANY_ROWS, MIB, TOKEN_VARIABLE, Admission, server_token
from gym_host.serving.calls import HttpCalls
from gym_host.serving.hangup import CancelledOnHangup
from tests.support.serving import serving

TOKEN = "a-token-of-this-test-alone"
LARGEST = 100_000


def echoing(seen: list[int]) -> FastAPI:
    """Says how large a body is, and notes that it was asked."""
    app = FastAPI()

    async def size(request: Request) -> int:
        seen.append(len(await request.body()))
        return seen[-1]

    for path in ("/run", "/aggregate_metrics"):
        app.post(path)(size)
    app.get("/livez")(lambda: "up")
    app.get("/")(lambda: "me")
    return app


def guarded(app: ASGIApp, *, token: str | None = None) -> Admission:
    return Admission(CancelledOnHangup(app), token=token, largest_body=LARGEST)


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        ({}, "asks for a token and the request has none"),
        ({"authorization": "Bearer another-token-than-this"}, "is not that of this server"),
        ({"authorization": f"Basic {TOKEN}"}, "is not that of this server"),
        ({"authorization": "Bearer "}, "is not that of this server"),
        ({"authorization": "Bearer \u00fc"}, "is not that of this server"),
    ],
)
async def test_without_the_token_nothing_is_done_and_the_answer_says_what_is_missing(headers: dict[str, str], what: str):
    seen: list[int] = []
    async with serving(guarded(echoing(seen), token=TOKEN)) as url, aiohttp.ClientSession(headers=headers) as session:
        for path in ("/run", "/", "/docs", "/openapi.json"):
            async with session.post(url + path, data=b"x") as response:
                said = (await response.json())["error"]
            assert (response.status, response.headers["www-authenticate"]) == (401, "Bearer")
            assert what in said["message"]
            assert TOKEN_VARIABLE in said["message"]
            assert TOKEN not in said["message"]
        async with session.get(f"{url}/livez") as response:
            assert response.status == 200
    assert seen == []


async def test_with_the_token_everything_is_as_without_one_and_our_calls_carry_it():
    seen: list[int] = []
    async with serving(guarded(echoing(seen), token=TOKEN)) as url:
        calls, strangers = HttpCalls({"it": url}, token=TOKEN), HttpCalls({"it": url})
        try:
            assert await calls.call("it", "/run", "x" * 10) == 12
            assert await calls.call("it", "/") == "me"
            with pytest.raises(ServerError, match="asks for a token") as caught:
                await strangers.call("it", "/run", "x")
            assert caught.value.status == 401
        finally:
            await calls.aclose()
            await strangers.aclose()
    assert seen == [12]


async def test_a_server_without_a_token_lets_everybody_in_whatever_they_show():
    async with serving(guarded(echoing([]))) as url, aiohttp.ClientSession() as session:
        async with session.post(f"{url}/run", data=b"x", headers={"authorization": "Bearer sk-of-somebody"}) as response:
            assert (response.status, await response.json()) == (200, 1)


async def chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 1000):
        yield b"x" * 1000


@pytest.mark.parametrize("size", [LARGEST + 1000, 40 * LARGEST])
@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("inner", [CancelledOnHangup, lambda app: app])
async def test_a_body_that_is_too_large_is_refused_with_the_limit_and_never_reaches_the_app(size, announced, inner):
    seen: list[int] = []
    app = Admission(inner(echoing(seen)), token=None, largest_body=LARGEST)
    async with serving(app) as url, aiohttp.ClientSession() as session:
        async with session.post(f"{url}/run", data=BytesIO(b"x" * size) if announced else chunks(size)) as response:
            said = (await response.json())["error"]
        assert (response.status, said["code"], said["type"]) == (413, 413, "request_too_large")
        assert "larger than 0.0953674 MiB" in said["message"]
        assert "max_body_mib" in said["message"]
        async with session.post(f"{url}/run", data=b"x") as response:
            assert await response.json() == 1
    assert seen == [1]


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_of_just_the_limit_is_let_in_and_one_with_many_rows_may_be_many_times_as_large(announced):
    seen: list[int] = []
    async with serving(guarded(echoing(seen))) as url, aiohttp.ClientSession() as session:
        for path, size in (("/run", LARGEST), ("/aggregate_metrics", MANY_ROWS * LARGEST)):
            async with session.post(url + path, data=BytesIO(b"x" * size) if announced else chunks(size)) as response:
                assert (response.status, await response.json()) == (200, size)
            async with session.post(
                url + path, data=BytesIO(b"x" * (size + 1000)) if announced else chunks(size + 1000)
            ) as response:
                assert response.status == 413
    assert seen == [LARGEST, MANY_ROWS * LARGEST]


def test_the_default_limit_is_far_above_thirty_turns_of_the_longest_replies():
    """A row holds a reply up to five times over, and a model in training adds an id and a log-probability for each token."""
    longest_reply_tokens, bytes_of_a_token, bytes_of_id_and_probability = 64_000, 4, 40
    whole = 30 * longest_reply_tokens * (5 * bytes_of_a_token + bytes_of_id_and_probability)
    assert whole < ServerSettings().max_body_mib * MIB / 2


def test_a_token_is_read_from_the_environment_alone():
    assert server_token({}) is None
    assert server_token({TOKEN_VARIABLE: " "}) is None
    assert server_token({TOKEN_VARIABLE: f"{TOKEN}\n"}) == TOKEN


@pytest.mark.parametrize("token", ["short", "with blanks in the middle", "\u00fcber-lange-schl\u00fcsselw\u00f6rter"])
def test_a_token_that_protects_nothing_or_fits_no_header_is_refused_without_being_shown(token):
    with pytest.raises(ConfigError, match="at least 16") as caught:
        server_token({TOKEN_VARIABLE: token})
    assert token not in str(caught.value)
