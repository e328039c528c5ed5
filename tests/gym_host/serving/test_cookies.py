# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Cookies of calls, by which a server knows a caller again: kept for who asks for it, shared with nobody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import pytest
from fastapi import FastAPI, Request, Response

from gym_host.serving.calls import Cookies, HttpCalls, InMemoryCalls, ServerCalls
from tests.support.serving import serving


def counting_app() -> FastAPI:
    """A server that gives a number to whoever has none, and says which cookies it was sent."""
    app, numbers = FastAPI(), count(1)

    @app.post("/v1/responses")
    async def responses(request: Request, response: Response) -> str | None:
        sent = request.headers.get("cookie")
        if sent is None:
            response.headers.append(
                "set-cookie", f'number="no, {next(numbers)}"; path=/; Max-Age=1209600; httponly; samesite=lax'
            )
            response.headers.append("set-cookie", "plain=a=b; path=/")
        return sent

    @app.post("/forget")
    async def forget(response: Response) -> None:
        response.headers.append("set-cookie", "plain=; path=/; Max-Age=0")
        response.headers.append("set-cookie", "number=new; Max-Age=soon")
        response.headers.append("set-cookie", "a cookie that is none")

    return app


@pytest.fixture(params=["in memory", "over HTTP"])
async def calls(request: pytest.FixtureRequest) -> AsyncIterator[ServerCalls]:
    """Both ways to call such a server."""
    if request.param == "in memory":
        yield InMemoryCalls({"it": counting_app()})
        return
    async with serving(counting_app()) as url:
        over = HttpCalls({"it": url})
        yield over
        await over.aclose()


async def test_who_keeps_cookies_sends_back_what_the_server_set_as_it_was_written(calls: ServerCalls):
    mine: Cookies = {}
    assert await calls.call("it", "/v1/responses", {}, cookies=mine) is None
    assert mine == {"number": '"no, 1"', "plain": "a=b"}
    assert await calls.call("it", "/v1/responses", {}, cookies=mine) == 'number="no, 1"; plain=a=b'


async def test_nobody_is_sent_the_cookies_of_another(calls: ServerCalls):
    one: Cookies = {}
    two: Cookies = {}
    for number, mine in enumerate((one, two), start=1):
        assert await calls.call("it", "/v1/responses", {}, cookies=mine) is None
        assert mine["number"] == f'"no, {number}"'
    assert await calls.call("it", "/v1/responses", {}) is None
    assert await calls.call("it", "/v1/responses", {}, cookies=one) == 'number="no, 1"; plain=a=b'


async def test_a_cookie_that_the_server_takes_back_is_forgotten_and_one_that_it_sets_again_is_replaced(calls: ServerCalls):
    mine: Cookies = {"number": "old", "plain": "a=b"}
    assert await calls.call("it", "/forget", {}, cookies=mine) is None
    assert mine == {"number": "new"}
