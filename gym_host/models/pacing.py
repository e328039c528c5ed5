# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Answers that arrive together go on one after another, in the order in which they came.

The event loop takes every ready task one step further before it takes the first one its second step. Where a thousand answers
arrive at once, all of them are therefore decoded before the first next question is sent, the thousand next questions are sent
at once, and so are their answers: the endpoint waits for us while we work, and we wait while it works. Let through a few at a
time, the first conversation asks on at once, and the rounds spread out until both sides work side by side.
"""

from __future__ import annotations

import asyncio
from collections import deque

_AT_ONCE = 4


class Pacer:
    """Lets a few callers through in each round of the event loop; the others wait in the order of asking.

    Args:
        at_once: How many a round.
    """

    __slots__ = ("_at_once", "_free", "_renewing", "_waiting")

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._at_once = self._free = at_once
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._renewing = False

    async def admit(self) -> None:
        """Returns when it is the caller's turn."""
        loop = asyncio.get_running_loop()
        if not self._renewing:
            self._renewing = True
            loop.call_soon(self._renew, loop)
        if self._free:
            self._free -= 1
            return
        passage = loop.create_future()
        self._waiting.append(passage)
        await passage

    def _renew(self, loop: asyncio.AbstractEventLoop) -> None:
        self._free = self._at_once
        while self._free and self._waiting:
            passage = self._waiting.popleft()
            if not passage.done():  # Whoever waited for it may have been cancelled.
                passage.set_result(None)
                self._free -= 1
        if self._free == self._at_once:
            self._renewing = False
        else:
            loop.call_soon(self._renew, loop)
