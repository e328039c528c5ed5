# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Calls from server to server, in memory and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from fastapi import FastAPI, Request, Response

from gym_host.errors import ServerError
from gym_host.serving.calls import HttpCalls, InMemoryCalls, ServerCalls
from tests.support.servers import free_port

ERRORS = {
    "/openai": (429, '{"error": {"message": "slow down", "code": 429}}', "slow down"),
    "/fastapi": (404, '{"detail": "no such thing"}', "no such thing"),
    "/fields": (422, '{"detail": [{"loc": ["body", "a", 0], "msg": "is missing"}, "and more"]}', "a.0: is missing; and more"),
    "/words": (500, '{"error": "out of order"}', "out of order"),
    "/text": (502, "<html>bad gateway</html>", "<html>bad gateway</html>"),
    "/list": (503, "[1]", "[1]"),
    "/nothing": (500, "", ""),
    "/no_json": (200, "<html>hello</html>", "the answer is no JSON: b'<html>hello</html>'"),
}
"""Path -> status, body, and the message that is made of it."""


def echo_app() -> FastAPI:
    app = FastAPI()

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    async def echo(path: str, request: Request) -> Response:
        status, content = answer(f"/{path}", request.method, await request.body())
        return Response(content, status)

    return app


def answer(path: str, method: str, body: bytes) -> tuple[int, bytes]:
    """Status and body: an error of the table, nothing, or what was asked."""
    if path in ERRORS:
        return ERRORS[path][0], ERRORS[path][1].encode()
    return (204, b"") if path == "/silent" else (200, b'["%s", %s]' % (method.encode(), body or b"null"))


@asynccontextmanager
async def web_server(handle: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """A real server on a free port; its base URL."""
    runner = web.ServerRunner(web.Server(handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def over_http(base: str, **more: Any) -> AsyncIterator[HttpCalls]:
    calls = HttpCalls({"it": base}, **more)
    try:
        yield calls
    finally:
        await calls.aclose()


async def web_echo(request: web.BaseRequest) -> web.StreamResponse:
    status, content = answer(request.path, request.method, await request.read())
    return web.Response(body=content, status=status)


@pytest.fixture(params=["in memory", "over HTTP"])
async def calls(request: pytest.FixtureRequest) -> AsyncIterator[ServerCalls]:
    """Both ways to call a server that answers alike."""
    if request.param == "in memory":
        yield InMemoryCalls({"it": echo_app()})
        return
    async with web_server(web_echo) as base, over_http(base) as over:
        yield over


async def refused(calls: ServerCalls, path: str, *, server: str = "it") -> ServerError:
    with pytest.raises(ServerError) as caught:
        await calls.call(server, path, {})
    return caught.value


# Both


async def test_a_body_is_posted_and_none_is_a_get(calls: ServerCalls):
    assert await calls.call("it", "/v1/x", {"a": ["é", None]}) == ["POST", {"a": ["é", None]}]
    assert await calls.call("it", "/v1/x", []) == ["POST", []]
    assert await calls.call("it", "/v1/x") == ["GET", None]


async def test_an_answer_without_a_body_is_none(calls: ServerCalls):
    assert await calls.call("it", "/silent", {}) is None


@pytest.mark.parametrize("path", ERRORS)
async def test_an_error_is_told_in_the_servers_own_words(calls: ServerCalls, path: str):
    status, _, message = ERRORS[path]
    error = await refused(calls, path)
    assert (error.server, error.path, error.status, error.message) == ("it", path, status, message)
    assert str(error) == f"it{path}: HTTP {status}: {message}"


async def test_an_unknown_server_is_named(calls: ServerCalls):
    error = await refused(calls, "/run", server="nobody")
    assert error.status is None
    assert str(error).startswith("nobody/run: no answer: ")


# In memory


async def test_the_servers_that_are_running_are_named_where_one_is_not():
    error = await refused(InMemoryCalls({"agent": echo_app(), "judge": echo_app()}), "/run")
    assert error.message == "no server of this name is running; running are: agent, judge"


async def test_a_server_that_crashes_is_an_error_of_status_500_that_names_the_exception(caplog: pytest.LogCaptureFixture):
    app = FastAPI()

    @app.post("/run")
    async def run() -> None:
        raise ZeroDivisionError("nothing to divide by")

    error = await refused(InMemoryCalls({"it": app}), "/run")
    assert (error.status, error.message) == (500, "ZeroDivisionError: nothing to divide by")
    assert [record.getMessage() for record in caplog.records] == ["it/run failed"]


async def test_cancelling_the_caller_cancels_the_server_and_the_server_that_it_calls():
    events: list[str] = []
    calls = InMemoryCalls()
    waiting = asyncio.Event()

    async def hang(name: str, wait: Callable[[], Awaitable[Any]]) -> None:
        try:
            await wait()
        except asyncio.CancelledError:
            events.append(name)
            raise

    outer, inner = FastAPI(), FastAPI()

    @outer.post("/run")
    async def run() -> None:
        await hang("outer", lambda: calls.call("inner", "/respond", {}))

    @inner.post("/respond")
    async def respond() -> None:
        waiting.set()
        await hang("inner", asyncio.Event().wait)

    calls.apps |= {"outer": outer, "inner": inner}
    caller = asyncio.create_task(calls.call("outer", "/run", {}))
    async with asyncio.timeout(5):
        await waiting.wait()
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
    assert events == ["inner", "outer"]


async def test_a_large_body_comes_through_whole():
    calls = InMemoryCalls({"it": echo_app()})
    text = "é" * 3_000_000
    assert await calls.call("it", "/x", {"text": text}) == ["POST", {"text": text}]


# Over HTTP


async def test_a_dead_port_is_named():
    address = f"http://127.0.0.1:{free_port()}"
    async with over_http(address) as calls:
        error = await refused(calls, "/run")
    assert error.status is None
    assert error.message.startswith(f"{address} cannot be reached: ")


async def test_a_server_that_never_answers_is_given_up_after_the_time_limit():
    async def hang(request: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with web_server(hang) as base, over_http(base, timeout_seconds=0.05) as calls:
        error = await refused(calls, "/run")
    assert error.status is None
    assert "cannot be reached" in error.message


async def test_an_idle_connection_that_the_server_closed_is_replaced_without_the_callers_notice():
    served: list[int] = []
    connections = 0

    async def one_answer_a_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        number = connections
        await reader.readuntil(b"{}")
        served.append(number)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n%d" % number)
        await writer.drain()
        await reader.read(1)  # It closes the moment that the connection is used again.
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(one_answer_a_connection, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, over_http(f"http://127.0.0.1:{port}") as calls:
        assert [await calls.call("it", "/run", {}) for _ in range(3)] == [1, 2, 3]
    assert served == [1, 2, 3]


async def test_a_server_that_cuts_a_new_connection_is_asked_once_since_it_may_have_been_at_work():
    asked = 0

    async def cut(request: web.BaseRequest) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with web_server(cut) as base, over_http(base) as calls:
        error = await refused(calls, "/run")
    assert error.status is None
    assert asked == 1


async def test_hundreds_of_calls_are_in_flight_at_once():
    barrier = asyncio.Barrier(300)

    async def meet(request: web.BaseRequest) -> web.StreamResponse:
        await barrier.wait()
        return web.Response(body=b"1")

    async with web_server(meet) as base, over_http(base) as calls, asyncio.timeout(10):
        assert sum(await asyncio.gather(*(calls.call("it", "/run", {}) for _ in range(300)))) == 300
