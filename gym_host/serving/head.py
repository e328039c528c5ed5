# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The head: a small server that says which servers run and where.

It runs in the process that started them. It shows no secret: `GET /config` is masked.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from pydantic import BaseModel

from gym_host.config.masking import masked
from gym_host.serving.admission import MIB, Admission
from gym_host.serving.fleet import Fleet, ServerProcess
from gym_host.serving.head_notes import HeadNote, noted
from gym_host.serving.process import LOOPBACK, base_url, is_everywhere
from gym_host.serving.server import JsonBytes

HEAD_PORT = 11_000


class ServerEntry(BaseModel):
    """A server as the head lists it.

    Attributes:
        name: Name of its instance.
        type: Its type, such as `responses_api_models`.
        folder: The folder with its program.
        url: Where it is reached by whoever asked.
        pid: Its process.
        state: `starting`, `ready`, or how it ended.
    """

    name: str
    type: str
    folder: str
    url: str
    pid: int
    state: str


class Head(BaseModel):
    """What a head says of itself and its servers.

    Attributes:
        url: Where it was reached.
        pid: Its process.
        started_at: When it started, in UTC.
        servers: Its servers, in the order of the configuration.
    """

    url: str
    pid: int
    started_at: str
    servers: list[ServerEntry]

    @property
    def ready(self) -> bool:
        return all(server.state == "ready" for server in self.servers)


@asynccontextmanager
async def head_running(
    listener: socket.socket, fleet: Fleet, values: Mapping[str, Any], *, token: str | None = None
) -> AsyncIterator[HeadNote]:
    """Serves the head, with a note of where it is, for as long as the context is open.

    Args:
        listener: The socket that it listens on.
        fleet: The servers that it lists.
        values: The resolved configuration.
        token: What it asks for, if it asks for a token.
    """
    host, port = listener.getsockname()[:2]
    with noted(base_url(host, port)) as note:
        app = Admission(head_app(note, fleet, masked(dict(values))), token=token, largest_body=MIB)
        config = uvicorn.Config(app, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        server = _Server(config)
        serving = asyncio.create_task(server.serve([listener]))
        try:
            yield note
        finally:
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    """A server that leaves the signals to the process that it runs in."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def head_app(note: HeadNote, fleet: Fleet, config: Mapping[str, Any]) -> FastAPI:
    """The head as an app.

    Args:
        note: Where it is.
        fleet: The servers that it lists.
        config: The masked configuration.
    """
    app = FastAPI(title="head")

    @app.get("/livez")
    async def livez() -> dict[str, str]:
        """Answers as soon as the head takes requests."""
        return {"status": "ok"}

    @app.get("/")
    @app.get("/servers")
    async def servers(request: Request) -> Head:
        """The servers, where they are, and whether they are ready."""
        asked = request.url.hostname or LOOPBACK
        entries = [_entry(server, asked) for server in fleet.servers]
        return Head(url=str(request.base_url).rstrip("/"), pid=os.getpid(), started_at=note.started_at, servers=entries)

    @app.get("/config")
    async def configuration() -> JsonBytes:
        """The configuration that they were started with, without its secrets."""
        return JsonBytes(config)

    return app


def _entry(server: ServerProcess, asked: str) -> ServerEntry:
    placed, instance = server.placed, server.placed.instance
    # A server that listens everywhere is reached at the name under which the head was reached.
    url = base_url(asked, placed.port) if is_everywhere(placed.host) else placed.url
    return ServerEntry(name=server.name, type=instance.type, folder=instance.folder, url=url, pid=server.pid, state=server.state)
