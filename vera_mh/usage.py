# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Token usage: what counts as a number of tokens, and how the usages of several calls are summed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from vera_mh.models import Json

_NO_COUNT = 2**53
"""From here on a number counts no tokens, and a sum of such numbers might fit no JSON."""


def add_usage(usages: Iterable[Mapping[str, Any] | None]) -> Json | None:
    """Sums token usage, nested details included; what is no count or of two kinds at one place is left out.

    Returns:
        The sum over the known counts, or None if nothing is known: unknown is not zero.
    """
    total: Json = {}
    for usage in usages:
        for key, value in usage.items() if isinstance(usage, Mapping) else ():
            known = total.get(key)
            if isinstance(value, Mapping):
                nested = add_usage([known, value])
                if nested is not None:
                    total[key] = nested
            elif is_count(value) and not isinstance(known, Mapping):
                total[key] = (known or 0) + value
    return total or None


def is_count(value: Any) -> TypeGuard[int | float]:
    """True for a number that can be one of tokens, and be summed."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _NO_COUNT
