# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters that an endpoint refuses, found out once and remembered.

Two things are done about a refused parameter, and nothing else:

- `max_tokens` and `max_completion_tokens` are two names of one wish, so one is sent in place of the other.
- A parameter that the caller calls adaptable, because no user set it by hand, is left out.

Any other refusal stands, as the error that it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any

from gym_host.models.reply import Failure, refusal_error

_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_REFUSAL_CODES = frozenset(
    {"unsupported_value", "unsupported_parameter", "unknown_parameter", "unrecognized_parameter", "extra_forbidden"}
)
_REFUSAL_WORDS = re.compile(
    r"unsupported|not supported|does(?: not|n't) support|unrecognized|unknown|unexpected|not permitted|not allowed"
    r"|deprecated|extra inputs",
    re.IGNORECASE,
)
_CANNOT_BE_LEFT_OUT = frozenset({"messages", "model"})
# Names that are no words of everyday English count as named even where a message does not quote them.
_UNMISTAKABLE = re.compile(r"_|^(?:temperature|verbosity|logprobs)$")


def refused_parameter(failure: Failure, sent: Mapping[str, Any]) -> str | None:
    """Name the parameter that an endpoint does not support.

    Args:
        failure: What the endpoint answered.
        sent: The body as it was sent.

    Returns:
        A key of `sent`, or None if the failure is about something else.
    """
    if failure.status not in (400, 422):
        return None
    error = refusal_error(failure.body)
    text = failure.message
    if error.get("code") not in _REFUSAL_CODES and not _REFUSAL_WORDS.search(text):
        return None
    named = error.get("param")
    if isinstance(named, str) and (root := re.split(r"[.\[]", named)[0]) in sent and root not in _CANNOT_BE_LEFT_OUT:
        return root
    # The refused one is named first; the one to use in its place may follow.
    places = {name: _place(name, text) for name in sent.keys() - _CANNOT_BE_LEFT_OUT}
    return min((name for name, place in places.items() if place >= 0), key=lambda name: places[name], default=None)


def _place(name: str, text: str) -> int:
    quote = "" if _UNMISTAKABLE.search(name) else "['\"`]"
    match = re.search(rf"{quote}\b{re.escape(name)}\b{quote}", text)
    return match.start() if match else -1


class Adaptations:
    """What one endpoint and model were found to refuse."""

    __slots__ = ("_refused",)

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._refused)

    def learn(self, parameter: str, adaptable: Set[str]) -> bool:
        """Remember a refused parameter.

        Returns:
            Whether anything can be done about it; if not, the refusal is final.
        """
        renamed = parameter in _OTHER_NAME and _OTHER_NAME[parameter] not in self._refused
        if not renamed and parameter not in adaptable and _OTHER_NAME.get(parameter) not in adaptable:
            return False
        self._refused.add(parameter)
        return True

    def apply(self, body: dict[str, Any], adaptable: Set[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Adapt a body to what is known.

        Returns:
            The body to send, and the parameters as really sent where that differs from `body` (None: left out).
        """
        adapted, sent = dict(body), dict[str, Any]()
        for parameter in self._refused & body.keys():
            other = _OTHER_NAME.get(parameter)
            if other is not None and other not in self._refused:
                sent[parameter] = None
                sent[other] = adapted.setdefault(other, adapted.pop(parameter))
            elif parameter in adaptable or other in adaptable:
                sent[parameter] = None
                del adapted[parameter]
        return adapted, sent
