# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A conversation as the output items of one response, as the agent hands it on and the verifier reads it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vera_mh.errors import RowError
from vera_mh.models import Json
from vera_mh.responses import output_text, textless
from vera_mh.turns import PERSONA, PROVIDER, Exchange, Speaker, Turn, next_turn


def conversation_from_output(output: Iterable[Mapping[str, Any]]) -> list[Turn]:
    """Rebuilds the turns from the output items of an agent's response: user messages are the persona's, all else the provider's.

    Two persona messages in a row have an empty provider turn between them.

    Args:
        output: As `response_with_conversation` writes it.
    """
    replies: list[tuple[Speaker, str]] = []
    pending: list[Mapping[str, Any]] = []
    for item in output:
        if item.get("role") in ("system", "developer"):
            continue
        if item.get("role") != "user":
            pending.append(item)
            continue
        if pending or (replies and replies[-1][0] == PERSONA):
            replies.append((PROVIDER, output_text(pending)))
            pending = []
        replies.append((PERSONA, output_text([item])))
    if pending:
        replies.append((PROVIDER, output_text(pending)))
    turns: list[Turn] = []
    for speaker, reply in replies:
        turns.append(next_turn(turns, speaker, reply))
    return turns


def check_output(output: Iterable[Mapping[str, Any]]) -> None:
    """Refuses output items with a part that no turn would hold.

    Args:
        output: The output items of a response.

    Raises:
        RowError: What should be text is none; the message says where.
    """
    for place, item in enumerate(output):
        if wrong := _unreadable(item):
            raise RowError(f"response.output[{place}].{wrong}: is no text")


def _unreadable(item: Mapping[str, Any]) -> str | None:
    """Where an item holds what should be text and is none. The chatbot's are its server's; of the user every word is heard."""
    if item.get("role") != "user":
        return textless(item)
    content = item.get("content")
    if content is None or item.get("type", "message") != "message":
        return "content"
    parts = content if isinstance(content, list) else []
    wrong = next((place for place, part in enumerate(parts) if isinstance(part, Mapping) and part.get("text") is None), None)
    return textless(item) if wrong is None else f"content[{wrong}]"


def response_with_conversation(exchanges: Sequence[Exchange], *, params: Mapping[str, Any], usage: Json | None) -> Json:
    """The response that leaves the agent: the provider's last one, its output being the whole conversation in order.

    Args:
        exchanges: All turns.
        params: The row's `responses_create_params`; a conversation without a provider turn borrows nothing else.
        usage: Sum over the provider's turns; None if nothing is known of it.

    Returns:
        A Responses object.
    """
    output: list[Any] = []
    for exchange in exchanges:
        if exchange.turn.speaker == PERSONA:
            output.append({"type": "message", "role": "user", "content": exchange.turn.response})
        else:
            output.extend(exchange.response.get("output") or [_EMPTY_REPLY])
    last = next((e.response for e in reversed(exchanges) if e.turn.speaker == PROVIDER), None)
    base = last if last is not None else _unspoken(params)
    return {**base, "output": output, "usage": _with_unknown_details(usage, base.get("usage"))}


def _with_unknown_details(usage: Json | None, last: Any) -> Json | None:
    """A sum of usages, with the details of which nothing is known as the last one has them: readers want them there, if null."""
    if usage is None or not isinstance(last, Mapping):
        return usage
    return {**{key: value for key, value in last.items() if isinstance(value, Mapping)}, **usage}


_EMPTY_REPLY: Json = {
    "type": "message",
    "id": "msg_empty",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "", "annotations": []}],
}
"""Stands for a provider response without any item, so that its turn keeps its place."""


def _unspoken(params: Mapping[str, Any]) -> Json:
    return {
        "id": "resp_without_provider_turn",
        "object": "response",
        "created_at": 0,
        "model": params.get("model") or "",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
