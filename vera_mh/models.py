# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The two ways in which the benchmark asks a model, each an interface of one method, and how their answers are read.

Bodies are the plain JSON of the OpenAI API: Responses for the two sides of the conversation, chat completions for the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

Json = dict[str, Any]


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
    return "".join(_part_text(part) for part in content or ())


def _part_text(part: Any) -> str:
    if isinstance(part, Mapping):
        return str(part.get("text") or part.get("refusal") or "")
    return part if isinstance(part, str) else ""


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
    """Sums token usage, nested details included.

    Returns:
        The sum over the known counts, or None if nothing is known: unknown is not zero.
    """
    total: Json = {}
    for usage in usages:
        for key, value in (usage or {}).items():
            if isinstance(value, Mapping):
                nested = add_usage([total.get(key), value])
                if nested is not None:
                    total[key] = nested
            elif isinstance(value, int | float) and not isinstance(value, bool):
                total[key] = total.get(key, 0) + value
    return total or None
