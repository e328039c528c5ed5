# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Asking the test endpoint through the project's own `Endpoint`, without waiting between attempts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from typing import Any

from gym_host.models.endpoint import Endpoint, EndpointSettings
from gym_host.models.errors import ChatError
from tests.support.endpoint import Fault, TestEndpoint, running_endpoint

BODY: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello"}]}
KEY = "sk-very-secret-0123456789"


class Waits:
    """Stands in for sleeping: remembers how long, and waits for nothing."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


@asynccontextmanager
async def endpoint_at(
    url: str,
    *,
    waits: Waits | None = None,
    now: Callable[[], float] = time.time,
    chance: Callable[[], float] = lambda: 0.0,
    **settings: Any,
) -> AsyncIterator[Endpoint]:
    """An endpoint with a key and the model `provider-1`; further settings as in `EndpointSettings`."""
    settings = {"base_url": url, "model": "provider-1", "api_key": KEY, **settings}
    async with Endpoint(EndpointSettings(**settings), sleep=waits or Waits(), now=now, chance=chance) as endpoint:
        yield endpoint


async def outcome_of(
    faults: Sequence[Fault],
    *,
    body: Mapping[str, Any] = BODY,
    adaptable: Set[str] = frozenset(),
    **settings: Any,
) -> tuple[Any, TestEndpoint]:
    """Make one call.

    Returns:
        The reply or the `ChatError`, and the server that answered.
    """
    async with running_endpoint(faults=faults) as server, endpoint_at(server.url, **settings) as endpoint:
        try:
            return await endpoint.chat(body, adaptable), server
        except ChatError as error:
            return error, server
