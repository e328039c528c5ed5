# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Standard output and standard error where what is said cannot be written: the one place that decides what comes of it.

What the encoding of a stream does not have is shown as a replacement character. What a stream that was closed beforehand is told
goes nowhere. A full disk behind standard output is an error, since what is printed there is the result of most commands; where
it is not, `unread_output_forgiven` says so. Of standard error nothing depends on being read.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from gym_host.errors import UserError


class OutputLost(UserError):
    """Standard output takes nothing more."""


class _Stream:
    """A standard stream. From the first text on that cannot be written, what it is told goes nowhere.

    Args:
        stream: The stream; None if it was closed by whoever started the command.
        needed: Whether it is an error that it cannot be written; else that is passed over.
    """

    def __init__(self, stream: TextIO | None, *, needed: bool) -> None:
        self._stream = open(os.devnull, "w", encoding="utf-8") if stream is None else stream
        self._needed = needed
        if isinstance(self._stream, io.TextIOWrapper):
            self._stream.reconfigure(errors="replace")

    def write(self, text: str) -> int:
        with self._watched():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._watched():
            self._stream.flush()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if self._needed:
                raise _lost(error) from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _lost(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error
    what = f"what is printed cannot be written: {error.strerror}"
    return OutputLost(what, where="standard output", mend="make room, or send it elsewhere")


@contextmanager
def standard_streams() -> Iterator[None]:
    """Has the standard streams behave as this module says.

    Within, writing to standard output raises `OutputLost`, or `BrokenPipeError` where a reader has hung up, but nothing else.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, _Stream(sys.stdout, needed=True)), cast(TextIO, _Stream(sys.stderr, needed=False))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def unread_output_forgiven() -> Iterator[None]:
    """Lets what is printed go unread: a reader that has hung up, or a full disk behind it, changes nothing of how a run ended."""
    with suppress(BrokenPipeError, OutputLost):
        yield
        sys.stdout.flush()
