# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How long to wait before the next attempt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Read how long a server asks us to wait.

    Args:
        headers: The response's headers, with case-insensitive look-up.
        now: Seconds since the epoch, for the form that names a date.

    Returns:
        Seconds from now, never negative; None if nothing readable was asked.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    if asked is None:
        return None
    seconds = _number(asked)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(asked).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def backoff_seconds(failures: int, *, base: float, maximum: float, chance: float) -> float:
    """Exponential backoff with jitter: between half and all of `base * 2^(failures - 1)`, up to `maximum`.

    Args:
        failures: How many attempts have failed so far, from 1.
        base: Seconds after the first failure.
        maximum: The longest wait in seconds.
        chance: A number in [0, 1) that spreads the waits of many calls.
    """
    return min(maximum, base * 2.0 ** min(failures - 1, 60)) * (0.5 + 0.5 * chance)


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None
