# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Secrets, masked before anything is shown or written.

A value is a secret if its key is named like one, if it is a header that is not known to be harmless, or if it stands in the user
part, the query or the fragment of a URL. A secret that is found so is masked wherever else it appears. In doubt it is masked: a
hidden word costs little, a published key much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

MASK = "****"

_SHORTEST = 8  # A shorter secret is not looked for in other texts: it may be an everyday word, such as `EMPTY`.

_SECRET_NAME = re.compile(
    r"key|token|password|passwd|passphrase|pwd|secret|credential|bearer|cookie|signature|authorization|(?<![a-z])auth(?![a-z])"
)

# Names that contain such a word and are no secret: cut out before the name is looked at.
_HARMLESS_NAME = re.compile(
    r"""(?<![a-z0-9])(?:
        prompt_cache_key | key_metrics | keywords?
        | (?:(?:max|min|num|n|total|mean|input|output|prompt|completion|reasoning|thinking|cached?|audio|text|new|budget)_)+tokens
        | tokens?_(?:count|limit|budget|details|usage|logprobs|per_[a-z]+)
        | token_ids | token_id_(?:capture|information) | tokeni[sz]er? | tokeni[sz]ation
    )(?![a-z0-9])""",
    re.VERBOSE,
)

_HARMLESS_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "content-type", "http-referer", "referer", "user-agent", "x-title"}
    | {"anthropic-version", "anthropic-beta", "openai-beta", "x-stainless-lang"}
)

# What may precede a mark such as `://` is bounded, so that a long text without spaces takes no longer than its length.
_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)"
_WHOLE_URL = re.compile(_SCHEME + r"(.+)", re.DOTALL)
_URL = re.compile(_SCHEME + r"([^\s\"<>]+)")
_USER_BEFORE_HOST = re.compile(r"(?<![^\s/@:\"'<>])[^\s/@:\"'<>]+:(?!//)[^\s@\"'<>]{0,1024}@(?=[\w\[])")
_QUERY = re.compile(r"([?#]).+", re.DOTALL)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[^\s\"',;]{8,}")
_KEY_SHAPE = re.compile(r"\bsk-[A-Za-z0-9_-]{12,}")
_REFERENCE = re.compile(r"\$\{(?:oc\.env:)?[A-Za-z_][\w.]*\}")


def masked(values: Any) -> Any:
    """A deep copy in which every secret is replaced by `****`; keys, lengths and all that is harmless stay.

    Args:
        values: Plain containers, such as `Config.values`.
    """
    return _masked(values, secrets_in(values))


def mask_text(text: str, secrets: Iterable[str] = ()) -> str:
    """A text, such as a provider's error message, without the secrets that it carries.

    Args:
        text: Any text.
        secrets: Texts to mask wherever they appear, e.g. from `secrets_in`.
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    text = _WHOLE_URL.sub(_masked_url, text) if _WHOLE_URL.match(text) else _URL.sub(_masked_url, text)
    text = _USER_BEFORE_HOST.sub(f"{MASK}@", text)
    return _KEY_SHAPE.sub(MASK, _BEARER.sub(rf"\g<1>{MASK}", text))


def secrets_in(values: Any) -> frozenset[str]:
    """The texts that stand under secret names and in secret headers, if they are long enough to be looked for elsewhere.

    Of `Bearer <key>` that is the whole and the key alone.
    """
    leaves = {str(leaf) for leaf in _secret_leaves(values, hidden=False)}
    found = leaves | {leaf.rpartition(" ")[2] for leaf in leaves}
    return frozenset(secret for secret in found if len(secret) >= _SHORTEST)


def is_secret_name(name: str) -> bool:
    """Whether a key of this name holds a secret."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    words = re.sub(r"[^a-z0-9]+", "_", words.lower())
    return _SECRET_NAME.search(_HARMLESS_NAME.sub("", words)) is not None


def _masked(node: Any, secrets: frozenset[str], *, hidden: bool = False, headers: bool = False) -> Any:
    if isinstance(node, dict):
        return {
            mask_text(key, secrets) if isinstance(key, str) else key: _masked(
                value, secrets, hidden=hidden or _hides(key, headers), headers=_holds_headers(key)
            )
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [_masked(item, secrets, hidden=hidden or headers) for item in node]
    if hidden or headers:
        return MASK if _is_secret(node) else node
    return mask_text(node, secrets) if isinstance(node, str) else node


def _secret_leaves(node: Any, *, hidden: bool, headers: bool = False) -> Iterator[Any]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _secret_leaves(value, hidden=hidden or _hides(key, headers), headers=_holds_headers(key))
    elif isinstance(node, list | tuple):
        for item in node:
            yield from _secret_leaves(item, hidden=hidden or headers)
    elif (hidden or headers) and _is_secret(node):
        yield node


def _hides(key: Any, in_headers: bool) -> bool:
    return str(key).lower() not in _HARMLESS_HEADERS if in_headers else is_secret_name(str(key))


def _holds_headers(key: Any) -> bool:
    return str(key).lower().endswith(("headers", "header"))


def _is_secret(leaf: Any) -> bool:
    """Whether a value under a secret name is worth hiding: not a switch, not nothing, not a mere reference to a key."""
    if leaf is None or isinstance(leaf, bool):
        return False
    return not isinstance(leaf, str) or (leaf != "" and _REFERENCE.fullmatch(leaf) is None)


def _masked_url(match: re.Match[str]) -> str:
    scheme, rest = match.groups()
    user, at, place = rest.rpartition("@")
    if "?" in user or "#" in user:  # An `@` in a query, or a `?` in a password: which of the two cannot be told.
        return f"{scheme}{MASK}"
    return scheme + (f"{MASK}@" if at else "") + _QUERY.sub(rf"\g<1>{MASK}", place)
