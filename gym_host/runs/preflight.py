# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whether what stands behind the servers can be used, asked before any row is spent on finding out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gym_host.config.configuration import Instance
from gym_host.errors import ServerError, UserError
from gym_host.serving.calls import ServerCalls

_HAS_NONE = (404, 405, 501)
"""Statuses of a server that has no such endpoint."""


async def refuse_unreachable(calls: ServerCalls, instances: Sequence[Instance]) -> None:
    """Asks every server that can say so whether what stands behind it can be reached, before any row is spent on finding out.

    Raises:
        UserError: Something cannot be reached; each is named.
    """

    async def trouble(name: str) -> str | None:
        try:
            await calls.call(name, "/preflight")
        except ServerError as error:
            return None if error.status in _HAS_NONE else f"{name}: {error.message}"
        return None

    found = [text for text in await asyncio.gather(*(trouble(instance.name) for instance in instances)) if text]
    if found:
        raise UserError(
            "\n  ".join(["nothing was run, since these cannot be used:", *found]),
            mend="start what is to answer there, or set base_url and api_key",
        )
