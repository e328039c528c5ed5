# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The search for cyclic garbage, made rare: at its usual rate it takes a good half of the time of a thousand conversations.

A conversation in progress is many small containers that live for minutes. Python looks for cycles after every 700 new ones and,
again and again, through everything that lives: with a thousand conversations each such look stops all of them for half a
second, and finds next to nothing, since hardly anything here is cyclic.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (50_000, 20, 50)
"""New containers before the youngest are searched (some hundredths of a second); such searches before older ones are."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Lets the interpreter search seldom, and not at all among what is there already; as before when the context is left."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
