# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A caller that hangs up is no longer worked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI, Request
from starlette.background import BackgroundTask
from starlette.responses import Response

from gym_host.errors import ServerError
from gym_host.serving.calls import HttpCalls
from gym_host.serving.hangup import CancelledOnHangup
from tests.support.components import until
from tests.support.serving import serving


class Log:
    """What happened to requests."""

    def __init__(self) -> None:
        self.events: list[str] = []

    async def wait_forever(self, name: str) -> None:
        self.events.append(f"{name} began")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.events.append(f"{name} was cancelled")
            raise


def waiting_app(log: Log) -> FastAPI:
    app = FastAPI()

    @app.post("/wait")
    async def wait() -> None:
        await log.wait_forever("inner")

    @app.post("/echo")
    async def echo(request: Request) -> Response:
        return Response(await request.body())

    @app.post("/crash")
    async def crash() -> None:
        raise ZeroDivisionError

    @app.post("/later")
    async def later() -> Response:
        async def after() -> None:
            await asyncio.sleep(0.05)
            log.events.append("done after the answer")

        return Response(b"1", background=BackgroundTask(after))

    return app


@asynccontextmanager
async def calls_to(app: FastAPI, **more: str) -> AsyncIterator[HttpCalls]:
    async with serving(CancelledOnHangup(app)) as url:
        calls = HttpCalls({"it": url, **more})
        try:
            yield calls
        finally:
            await calls.aclose()


async def hang_up(calls: HttpCalls, log: Log, path: str, *, begun: str) -> None:
    calling = asyncio.create_task(calls.call("it", path, {}))
    await until(lambda: begun in log.events)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling


async def test_a_request_is_cancelled_when_its_caller_hangs_up():
    log = Log()
    async with calls_to(waiting_app(log)) as calls:
        await hang_up(calls, log, "/wait", begun="inner began")
        await until(lambda: "inner was cancelled" in log.events)


async def test_so_is_the_call_that_it_had_made_to_another_server():
    log = Log()
    outer = FastAPI()
    async with calls_to(waiting_app(log)) as inner:

        @outer.post("/run")
        async def run() -> None:
            await inner.call("it", "/wait", {})

        async with calls_to(outer) as calls:
            await hang_up(calls, log, "/run", begun="inner began")
            await until(lambda: "inner was cancelled" in log.events)


async def test_bodies_come_through_whole_one_after_another():
    async with calls_to(waiting_app(Log())) as calls:
        for size in (0, 1, 70_000, 3_000_000):
            assert await calls.call("it", "/echo", {"text": "x" * size}) == {"text": "x" * size}


async def test_an_error_of_the_app_is_still_its_own(caplog: pytest.LogCaptureFixture):
    async with calls_to(waiting_app(Log())) as calls:
        with pytest.raises(ServerError) as caught:
            await calls.call("it", "/crash", {})
    assert caught.value.status == 500
    assert "ZeroDivisionError" in caplog.text


async def test_what_an_app_does_after_its_answer_is_not_cut_short():
    log = Log()
    async with calls_to(waiting_app(log)) as calls:
        assert await calls.call("it", "/later", {}) == 1
        await until(lambda: "done after the answer" in log.events)


async def test_a_server_that_stops_says_so_to_the_callers_that_wait(caplog: pytest.LogCaptureFixture):
    log = Log()
    async with serving(CancelledOnHangup(waiting_app(log))) as url:
        calls = HttpCalls({"it": url})
        calling = asyncio.create_task(calls.call("it", "/wait", {}))
        await until(lambda: "inner began" in log.events)
    with pytest.raises(ServerError) as caught:
        await calling
    await calls.aclose()
    assert (caught.value.status, caught.value.message) == (503, "the server is stopping")
    assert "inner was cancelled" in log.events
    assert "Traceback" not in caplog.text


async def test_a_caller_that_hangs_up_before_its_body_is_complete_is_let_go():
    log = Log()
    async with serving(CancelledOnHangup(waiting_app(log))) as url:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(b"POST /wait HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        calls = HttpCalls({"it": url})
        assert await calls.call("it", "/echo", 1) == 1
        await calls.aclose()
    assert log.events == []
    assert await reader.read() == b""
