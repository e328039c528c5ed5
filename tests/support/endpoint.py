# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An OpenAI-compatible endpoint for tests and benchmarks, which can misbehave on demand.

In the test's own process:

    async with running_endpoint(faults=[Fault(kind="status", status=500, first=1)]) as endpoint:
        ...                      # call endpoint.url + "/chat/completions"
        assert endpoint.counts["judge"] == 21

As a process of its own, so that its work is not the caller's:

    with endpoint_process(seed=7, latency=0.05) as url:
        ...

    $ python -m tests.support.endpoint --port 0 --seed 7 --fault '{"kind": "status", "status": 503, "probability": 0.05}'
    http://127.0.0.1:40217/v1

It answers `POST {prefix}/v1/chat/completions`. Whom a request asks (`judge`, `persona`, `provider`) it knows from a folder of
the path (`/judge/v1`), from the judge's response format, or from the model's name. What it says depends on the seed and the
messages only (`tests.support.replies`), so two runs are equal. What can go wrong, and when, is in `tests.support.faults`.
`GET /stats` tells the counts and `GET /faults` every answer that was spoiled, for those who run it as a process. To a client that
trains the model it also is the engine: asked for `return_tokens_as_token_ids` it reports the tokens that it sampled, and `POST
{prefix}/tokenize` tells those of a prompt (`tests.support.tokens`).
"""

from __future__ import annotations

import argparse
import asyncio
import queue
import resource
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from tests.support.faults import KINDS, Call, Fault, FaultPlan, as_argument, json_response
from tests.support.replies import completion, digest_of, heard, role_of
from tests.support.tokens import choice_logprobs, prompt_tokens, said

__all__ = ["Fault", "RecordedRequest", "Spoiled", "TestEndpoint", "endpoint_process", "endpoint_thread", "running_endpoint"]

_ROOT = Path(__file__).parents[2]
_SHOWN = ("counts", "max_concurrency", "max_concurrency_of", "seconds")


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it came in. Header names are in lower case."""

    role: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Spoiled:
    """An answer that was not given as it should be: who was asked, which request it was (a digest), and what went wrong."""

    role: str
    digest: str
    kind: str
    status: int


class TestEndpoint:
    """The server.

    Attributes:
        url: What a client takes as its base URL; `url_of(role)` names the role in the path.
        requests: What came in, in order, if it is recorded.
        counts: Requests per role, and per `fault/<kind>`.
        spoiled: Answers that were spoiled, in order.
        seconds: How long the endpoint had requests in its hands, all of them together.
        max_concurrency: The highest number of requests that were in progress at once.
        max_concurrency_of: The same for each role.
    """

    __test__ = False  # it is no test class, whatever its name says to pytest

    def __init__(self, *, seed: int = 0, latency: float = 0.0, faults: Iterable[Fault] = (), record: bool = True) -> None:
        self.seed, self.latency, self.record = seed, latency, record
        self.requests: list[RecordedRequest] = []
        self.counts: Counter[str] = Counter()
        self.spoiled: list[Spoiled] = []
        self.seconds = 0.0
        self.max_concurrency = 0
        self.max_concurrency_of: Counter[str] = Counter()
        self.port = 0
        self._plan = FaultPlan(tuple(faults))
        self._attempts: Counter[bytes] = Counter()
        self._company: list[asyncio.Event] = []
        self._on_connection: weakref.WeakKeyDictionary[asyncio.BaseTransport, int] = weakref.WeakKeyDictionary()
        self._in_progress = 0
        self._in_progress_of: Counter[str] = Counter()
        self._number = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def url_of(self, role: str) -> str:
        return f"http://127.0.0.1:{self.port}/{role}/v1"

    def bodies(self, role: str | None = None) -> list[dict[str, Any]]:
        """The recorded bodies, of one role or of all."""
        return [request.body for request in self.requests if role in (None, request.role)]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if request.method != "POST" or not request.path.endswith("/v1/chat/completions"):
            return await self._other(request)
        began = time.perf_counter()
        self._in_progress += 1
        self.max_concurrency = max(self.max_concurrency, self._in_progress)
        role = ""
        try:
            body = orjson.loads(await request.content.read())
            role = role_of(request.path, body)
            self.counts[role] += 1
            self._in_progress_of[role] += 1
            self.max_concurrency_of[role] = max(self.max_concurrency_of[role], self._in_progress_of[role])
            if self.record:
                headers = {name.lower(): value for name, value in request.headers.items()}
                self.requests.append(RecordedRequest(role, request.path, headers, body))
            if self.latency:
                await asyncio.sleep(self.latency)
            digest = digest_of(self.seed, heard(body["messages"]))
            reply = completion(role, body, self.seed, digest)
            if body.get("return_tokens_as_token_ids"):
                choice = reply["choices"][0]
                choice["logprobs"] = choice_logprobs(said(choice["message"]))
            return await self._faulty(request, body, role, digest, reply) if self._plan else json_response(reply)
        finally:
            self._in_progress -= 1
            self._in_progress_of[role] -= 1
            self.seconds += time.perf_counter() - began

    async def _faulty(
        self, request: web.BaseRequest, body: dict[str, Any], role: str, digest: bytes, reply: dict[str, Any]
    ) -> web.StreamResponse:
        number, self._number = self._number, self._number + 1
        self._attempts[digest] += 1
        on_connection = 1
        if request.transport is not None:
            on_connection = self._on_connection.get(request.transport, 0) + 1
            self._on_connection[request.transport] = on_connection
        call = Call(request, body, role, digest, self._attempts[digest], number, on_connection, reply, self._company)
        fault = self._plan.pick(call)
        if fault is None:
            return json_response(reply)
        self.counts[f"fault/{fault.kind}"] += 1
        self.spoiled.append(Spoiled(role, digest.hex(), fault.kind, fault.status))
        try:
            return await KINDS[fault.kind](fault, call)
        except ConnectionError:  # the client gave up first
            return web.Response()

    async def _other(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.method == "POST" and request.path.endswith("/tokenize"):
            tokens = prompt_tokens(orjson.loads(await request.content.read())["messages"])
            return json_response({"tokens": tokens, "count": len(tokens), "max_model_len": 2**20})
        if request.path == "/stats":
            return json_response({name: getattr(self, name) for name in _SHOWN})
        if request.path == "/faults":
            return json_response(self.spoiled)
        error = {"message": f"There is no {request.method} {request.path} here", "code": 404}
        return json_response({"error": error}, 404)


@asynccontextmanager
async def running_endpoint(
    *,
    seed: int = 0,
    latency: float = 0.0,
    faults: Iterable[Fault] = (),
    record: bool = True,
    port: int = 0,
) -> AsyncIterator[TestEndpoint]:
    """Run the endpoint in this event loop.

    Args:
        seed: Another seed says other things.
        latency: Seconds before each answer.
        faults: When and how to misbehave; the first rule that matches counts.
        record: Whether to keep what came in.
        port: Where to listen; 0 takes a free port.
    """
    endpoint = TestEndpoint(seed=seed, latency=latency, faults=faults, record=record)
    runner = web.ServerRunner(web.Server(endpoint.handle, access_log=None), shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=4096)
        await site.start()
        endpoint.port = runner.addresses[0][1]
        yield endpoint
    finally:
        await runner.cleanup()


@contextmanager
def endpoint_process(
    *, seed: int = 0, latency: float = 0.0, faults: Iterable[Fault] = (), record: bool = False, port: int = 0
) -> Iterator[str]:
    """Run the endpoint as a process of its own.

    Yields:
        Its base URL.
    """
    command = [sys.executable, "-m", "tests.support.endpoint", f"--port={port}", f"--seed={seed}", f"--latency={latency}"]
    command += [f"--fault={as_argument(fault)}" for fault in faults]
    if record:
        command.append("--record")
    process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError("The test endpoint did not start")
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=10)


@contextmanager
def endpoint_thread(*, seed: int = 0, faults: Iterable[Fault] = (), record: bool = False) -> Iterator[TestEndpoint]:
    """Run the endpoint in a thread of this process, for tests that wait for another process meanwhile."""
    started: queue.Queue[tuple[TestEndpoint, asyncio.AbstractEventLoop, asyncio.Event]] = queue.Queue()

    async def serve() -> None:
        async with running_endpoint(seed=seed, faults=faults, record=record) as endpoint:
            stop = asyncio.Event()
            started.put((endpoint, asyncio.get_running_loop(), stop))
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    endpoint, loop, stop = started.get(timeout=30)
    try:
        yield endpoint
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()


async def _serve(options: argparse.Namespace) -> None:
    settings = {"seed": options.seed, "latency": options.latency, "record": options.record, "port": options.port}
    async with running_endpoint(faults=options.fault, **settings) as endpoint:
        sys.stdout.write(f"{endpoint.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.endpoint", description="A test endpoint that can misbehave.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--record", action="store_true", help="keep what comes in")
    parser.add_argument("--fault", type=Fault.parse, action="append", default=[], help="a rule as a JSON object; repeatable")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # A connection for each of thousands of callers.
    try:
        asyncio.run(_serve(parser.parse_args()))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
