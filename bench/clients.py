# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Clients in a loop: the floor that everything is compared with. Runs in a process of its own, so that nothing else is counted.

python -m bench.clients KIND URL CALLS CONCURRENCY     (KIND: bare, httpx or openai)
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import httpx
import openai
import orjson

Ask = Callable[[dict[str, Any]], Awaitable[str]]

_TALK = "I had a long day and did not know whom to tell. It helps a little to write it down here. "
BODY: dict[str, Any] = {
    "model": "chatbot",
    "messages": [{"role": "system", "content": "You are a helpful AI assistant."}]
    + [{"role": "user" if turn % 2 == 0 else "assistant", "content": _TALK} for turn in range(15)],
}
"""A request in the middle of a conversation."""


@asynccontextmanager
async def bare(url: str, concurrency: int) -> AsyncIterator[Ask]:
    """Aiohttp and orjson, and nothing else."""
    connector = aiohttp.TCPConnector(limit=concurrency)
    headers = {"content-type": "application/json"}
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def ask(body: dict[str, Any]) -> str:
            async with session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
                return str(orjson.loads(await response.read())["choices"][0]["message"]["content"])

        yield ask


@asynccontextmanager
async def with_httpx(url: str, concurrency: int) -> AsyncIterator[Ask]:
    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:

        async def ask(body: dict[str, Any]) -> str:
            response = await client.post(f"{url}/chat/completions", json=body)
            return str(response.json()["choices"][0]["message"]["content"])

        yield ask


@asynccontextmanager
async def with_openai(url: str, concurrency: int) -> AsyncIterator[Ask]:
    async with openai.AsyncOpenAI(base_url=url, api_key="unused", max_retries=0) as client:

        async def ask(body: dict[str, Any]) -> str:
            completion = await client.chat.completions.create(**body)
            return str(completion.choices[0].message.content)

        yield ask


KINDS = {"bare": bare, "httpx": with_httpx, "openai": with_openai}


async def measure(kind: str, url: str, calls: int, concurrency: int) -> dict[str, float]:
    """CPU and wall seconds of so many calls."""
    async with KINDS[kind](url, concurrency) as ask:
        await asyncio.gather(*(ask(BODY) for _ in range(concurrency)))
        waiting = iter(range(calls))

        async def work() -> None:
            for _ in waiting:
                await ask(BODY)

        before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        await asyncio.gather(*(work() for _ in range(concurrency)))
        after, ended = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_ms_per_call": 1000 * cpu / calls, "calls_per_second": calls / (ended - began)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))))
