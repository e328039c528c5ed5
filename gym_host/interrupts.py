# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM, as a wish to stop rather than an end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def cancelled_by_signals(task: asyncio.Future[None]) -> Iterator[Callable[[], bool]]:
    """Lets Ctrl-C and SIGTERM cancel a task, in place of ending the process.

    Yields:
        A function that says whether a signal came.
    """
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def cancel(number: int) -> None:
        received.append(number)
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, cancel, number)
    try:
        yield lambda: bool(received)
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
