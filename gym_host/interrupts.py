# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and SIGTERM, as a wish to stop rather than an end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130
"""Exit code of a command that was asked to stop before it was done."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def cancelled_by_signals(task: asyncio.Future[None]) -> Iterator[Callable[[], bool]]:
    """Lets Ctrl-C and SIGTERM cancel a task, in place of ending the process.

    Yields:
        A function that says whether a signal came.
    """
    received = False

    def cancel() -> None:
        nonlocal received
        received = True
        task.cancel()

    with on_signals(cancel):
        yield lambda: received


@contextmanager
def on_signals(stop: Callable[[], object]) -> Iterator[None]:
    """Has a function called on Ctrl-C and SIGTERM, in place of ending the process."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
