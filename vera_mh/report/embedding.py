# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Data inside a page: inert text that no content can break out of, and that the browser unpacks when it is wanted."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Iterator
from itertools import islice

import orjson
from markupsafe import Markup

PER_BLOCK = 16
"""Conversations that are packed together: more pack better, fewer unpack faster."""

_ESCAPES = {
    b"<": rb"\u003c",
    b">": rb"\u003e",
    b"&": rb"\u0026",
    "\u2028".encode(): rb"\u2028",
    "\u2029".encode(): rb"\u2029",
}


def json_script(id_: str, value: object) -> Markup:
    """A value as a script element that holds JSON and is never run."""
    text = orjson.dumps(value)
    for raw, escaped in _ESCAPES.items():
        text = text.replace(raw, escaped)
    return Markup(f'<script type="application/json" id="{id_}">{text.decode()}</script>\n')  # noqa: S704


def block_scripts(views: Iterable[object]) -> Iterator[Markup]:
    """Values as script elements `block-0`, `block-1`, ..., each a packed list of `PER_BLOCK` of them."""
    remaining = iter(views)
    for number, block in enumerate(iter(lambda: list(islice(remaining, PER_BLOCK)), [])):
        packed = base64.b64encode(gzip.compress(orjson.dumps(block), 6, mtime=0)).decode()
        yield Markup(f'<script type="text/plain" id="block-{number}">{packed}</script>\n')  # noqa: S704
