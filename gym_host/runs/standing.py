# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How servers stand since a run began: which refused calls, for their address, key, model or a parameter, and answered none.

Whoever answers one call, answers calls of this setup: what else it refuses is about single conversations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from gym_host.errors import ServerError
from gym_host.jsonl import Json
from gym_host.serving.calls import ServerCalls
from gym_host.wording import counted, printable


@dataclass(slots=True)
class Standing:
    """How the servers stand that can say so, which they do at `/standing`.

    Attributes:
        calls: Calls to the servers.
        before: What each server said when the run began: a server on a port may have served other runs.
    """

    calls: ServerCalls
    before: dict[str, Json] = field(default_factory=dict)

    async def begin(self, servers: Iterable[str]) -> None:
        """Takes note of how the servers stand before the run."""
        names = list(servers)
        said = await asyncio.gather(*map(self._said, names))
        self.before = {name: one for name, one in zip(names, said, strict=True) if one is not None}

    async def refusing(self, *, least: int = 1) -> dict[str, str]:
        """The servers that have refused so many calls and answered none, and what is to be said of each."""
        said = await asyncio.gather(*map(self._said, self.before))
        found = {}
        for (name, before), now in zip(self.before.items(), said, strict=True):
            refused = now["refused"] - before["refused"] if now else 0
            if now and now["answered"] == before["answered"] and refused >= least:
                found[name] = f"refused {counted(refused, 'call')} and answered none: {printable(str(now.get('refusal')))}"
        return found

    async def _said(self, name: str) -> Json | None:
        try:
            said = await self.calls.call(name, "/standing")
        except ServerError:
            return None
        known = isinstance(said, dict) and all(isinstance(said.get(key), int) for key in ("answered", "refused"))
        return said if known else None
