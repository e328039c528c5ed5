# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Connections of calls over HTTP: how many, how long, and when a call may be sent a second time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI

from gym_host.errors import ServerError
from gym_host.serving import calls as module
from gym_host.serving.calls import HttpCalls
from gym_host.serving.limits import allow_many_files
from gym_host.serving.process import KEEP_ALIVE_SECONDS
from tests.support.serving import serving

Answer = Callable[[int, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1"


class Raw:
    """A server that counts connections and requests, and treats each request as a test says."""

    def __init__(self, answer: Answer) -> None:
        self.connections = self.requests = 0
        self._answer = answer

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while not writer.is_closing():
                await reader.readuntil(b"{}")
                self.requests += 1
                await self._answer(self.requests, reader, writer)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def raw_server(answer: Answer) -> AsyncIterator[tuple[Raw, HttpCalls]]:
    raw = Raw(answer)
    server = await asyncio.start_server(raw.handle, "127.0.0.1", 0)
    calls = HttpCalls({"it": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"})
    async with server:
        yield raw, calls
        await calls.aclose()


async def answer_all(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


async def test_a_connection_is_used_again_and_not_for_longer_than_any_server_keeps_it(monkeypatch: pytest.MonkeyPatch):
    async with raw_server(answer_all) as (raw, calls):
        assert [await calls.call("it", "/run", {}) for _ in range(3)] == [1, 1, 1]
        assert raw.connections == 1
    assert module._IDLE_SECONDS < 5 < KEEP_ALIVE_SECONDS
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.02)
    async with raw_server(answer_all) as (raw, calls):
        await calls.call("it", "/run", {})
        await asyncio.sleep(0.06)
        await calls.call("it", "/run", {})
        assert raw.connections == 2


async def test_a_call_whose_server_dies_at_work_is_not_sent_again_though_its_connection_was_used_before(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(module, "_STALE_SECONDS", 0.05)

    async def work_then_die(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if number == 1:
            writer.write(OK)
        else:
            await asyncio.sleep(0.1)
            writer.transport.abort()

    async with raw_server(work_then_die) as (raw, calls):
        assert await calls.call("it", "/run", {}) == 1
        with pytest.raises(ServerError) as caught:
            await calls.call("it", "/run", {})
        assert caught.value.status is None
        assert raw.requests == 2


async def test_a_call_that_was_answered_in_part_is_not_sent_again():
    async def half(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK if number == 1 else OK[:-1])
        if number > 1:
            await writer.drain()
            writer.close()

    async with raw_server(half) as (raw, calls):
        assert await calls.call("it", "/run", {}) == 1
        with pytest.raises(ServerError):
            await calls.call("it", "/run", {})
        assert raw.requests == 2


async def test_a_stale_connection_is_replaced_once_by_a_new_one_however_many_others_are_stale():
    gate = asyncio.Event()

    async def one_answer(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not gate.is_set():
            await barrier.wait()
        writer.write(OK)
        if not gate.is_set():
            await writer.drain()
            await reader.read(1)  # It closes the moment that the connection is used again.
            writer.close()

    barrier = asyncio.Barrier(5)
    async with raw_server(one_answer) as (raw, calls):
        await asyncio.gather(*(calls.call("it", "/run", {}) for _ in range(5)))
        assert raw.connections == 5
        gate.set()
        assert await calls.call("it", "/run", {}) == 1
        assert raw.connections == 6
        assert raw.requests == 6


async def test_a_body_of_many_megabytes_comes_through_and_so_does_its_answer():
    app = FastAPI()

    @app.post("/echo")
    async def echo(body: dict[str, str]) -> dict[str, str]:
        return body

    async with serving(app) as url:
        calls = HttpCalls({"it": url})
        assert await calls.call("it", "/echo", {"text": "é" * 2_000_000}) == {"text": "é" * 2_000_000}
        await calls.aclose()


async def test_a_thousand_calls_are_in_flight_at_once():
    allow_many_files()
    app = FastAPI()
    waiting, everybody = 0, asyncio.Event()

    @app.post("/run")
    async def run() -> int:
        nonlocal waiting
        waiting += 1
        if waiting == 1000:
            everybody.set()
        await everybody.wait()
        return 1

    async with serving(app) as url, asyncio.timeout(30):
        calls = HttpCalls({"it": url})
        assert sum(await asyncio.gather(*(calls.call("it", "/run", {}) for _ in range(1000)))) == 1000
        await calls.aclose()
