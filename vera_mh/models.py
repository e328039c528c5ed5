# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The two ways in which the benchmark asks a model, each an interface of one method, and how their answers are read.

Bodies are the plain JSON of the OpenAI API: Responses for the two sides of the conversation, chat completions for the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeGuard

from vera_mh.errors import ModelError

Json = dict[str, Any]
Row = Mapping[str, Any]
"""A row of a run, scored or failed, as it is read."""

_NO_COUNT = 2**53
"""From here on a number counts no tokens, and a sum of such numbers might fit no JSON."""


class ResponsesModel(Protocol):
    """A model that continues a conversation."""

    async def respond(self, params: Json) -> Json:
        """Asks for one response.

        Args:
            params: Body of a Responses request (`input` and sampling parameters).

        Returns:
            A Responses object.

        Raises:
            ModelError: The model could not be reached or answered with an error.
        """
        ...


class ChatModel(Protocol):
    """A model that answers one chat completion."""

    async def complete(self, body: Json) -> Json:
        """Asks for one chat completion.

        Args:
            body: Body of a chat completions request.

        Returns:
            A chat completion object.

        Raises:
            ModelError: The model could not be reached or answered with an error.
        """
        ...


def output_text(items: Iterable[Mapping[str, Any]]) -> str:
    """The text that a model said in its output items: its messages, or its refusal; reasoning is never part of it."""
    return "".join(_item_text(item) for item in items)


def _item_text(item: Mapping[str, Any]) -> str:
    if item.get("type", "message") != "message":
        return ""
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "".join(_part_text(part) for part in content) if isinstance(content, list) else ""


def _part_text(part: Any) -> str:
    said = (part.get("text") or part.get("refusal")) if isinstance(part, Mapping) else part
    return said if isinstance(said, str) else ""


def checked_response(response: Any) -> Json:
    """What a model server answered, if it has the shape of a Responses object as far as it is read.

    Raises:
        ModelError: It has not.
    """
    if not isinstance(response, dict):
        raise ModelError("the answer is no JSON object")
    output = response.get("output")
    if output is not None and not (isinstance(output, list) and all(isinstance(item, dict) for item in output)):
        raise ModelError("the answer is no Responses object: `output` is no list of items")
    for key in ("usage", "incomplete_details"):
        if not isinstance(response.get(key), dict | None):
            raise ModelError(f"the answer is no Responses object: `{key}` is no object")
    return response


def is_incomplete(response: Mapping[str, Any]) -> bool:
    """True if a response was cut short: by its token ceiling or by a filter."""
    return response.get("status") == "incomplete" or bool(response.get("incomplete_details"))


def incomplete_reason(response: Mapping[str, Any]) -> str | None:
    details = response.get("incomplete_details") or {}
    return details.get("reason")


def sent_parameters(answer: Mapping[str, Any]) -> Json:
    """What a model server says it sent otherwise than asked, for the record: a mapping of one key, or of none."""
    sent = answer.get("x_sent_parameters")
    return {"sent_parameters": sent} if sent else {}


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
