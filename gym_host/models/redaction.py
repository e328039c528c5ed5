# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps keys out of every text that leaves an endpoint: errors, logs, representations."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from gym_host.config.masking import MASK, mask_text, secrets_in

_SHORTEST_SECRET = 6  # shorter ones are placeholders such as `EMPTY`, and masking them would tear the text apart
# Looking for the shape of a key takes microseconds for each character of some texts: not in a megabyte, within the event loop.
_LONGEST_TEXT = 8_000


def safe_url(url: str) -> str:
    """The URL as it may be shown: without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(no readable URL)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class Redactor:
    """Masks a set of known secrets, and whatever looks like a key. Of a long text it gives the beginning.

    Args:
        secrets: The texts that must not appear.
    """

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # The longest first, so that a secret that holds another one goes as a whole.
        self._secrets = sorted({secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for secret in self._secrets:  # before anything is cut, lest half of one stays
            text = text.replace(secret, MASK)
        return mask_text(text[:_LONGEST_TEXT])

    def __repr__(self) -> str:
        return "Redactor(...)"


def endpoint_secrets(base_url: str, api_key: str, headers: Mapping[str, str], extra_body: Mapping[str, Any]) -> Iterator[str]:
    """Yield every secret in an endpoint's settings, in each spelling that an answer may echo."""
    yield api_key
    for secret in secrets_in({"headers": dict(headers), "extra_body": dict(extra_body)}):
        yield secret
        yield secret.rpartition(" ")[2]  # "Bearer <key>" echoed without its scheme
    parts = urlsplit(base_url)
    userinfo = parts.netloc.rpartition("@")[0]
    for spelling in {userinfo, unquote(userinfo)} - {""}:
        yield spelling
        yield spelling.partition(":")[2]
        yield base64.b64encode(spelling.encode()).decode()
    yield from (value for name, value in parse_qsl(parts.query) if name != "api-version")
