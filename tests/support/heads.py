# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Heads over servers that are none."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gym_host.config.configuration import Instance
from gym_host.serving.fleet import Fleet
from gym_host.serving.head import head_running
from gym_host.serving.head_notes import HeadNote
from gym_host.serving.ports import Placement

PROVIDER = Path(__file__).parents[2] / "responses_api_models" / "inference_provider" / "app.py"
KEY = "sk-this-is-a-secret-key"


class Server:
    """A server as the head sees it, without a process."""

    def __init__(self, name: str, port: int, *, state: str = "ready", host: str = "127.0.0.1", **settings: Any) -> None:
        self.placed = Placement(instance(name, **settings), host, port)
        self.name, self.state, self.pid = name, state, 7


def instance(name: str, **settings: Any) -> Instance:
    return Instance(name, "responses_api_models", "provider", settings, PROVIDER)


def values_of(*servers: Server) -> dict[str, Any]:
    return {server.name: {"responses_api_models": {"provider": server.placed.instance.settings}} for server in servers}


@asynccontextmanager
async def head(*servers: Server) -> AsyncIterator[HeadNote]:
    fleet: Any = Fleet(servers, lambda line: None)  # type: ignore[arg-type]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with head_running(listener, fleet, values_of(*servers)) as note:
            yield note
