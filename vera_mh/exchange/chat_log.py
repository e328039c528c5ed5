# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Conversations as chatbots log them: lists of messages with `role` and `content`, read into turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vera_mh.errors import ChatLogError, RowError
from vera_mh.turns import PERSONA, PROVIDER, Speaker, Turn, conversation_from_json, next_turn

_SPEAKERS: dict[str, Speaker] = {
    "user": PERSONA,
    "human": PERSONA,
    "assistant": PROVIDER,
    "chatbot": PROVIDER,
    "model": PROVIDER,
}
_SYSTEM = ("system", "developer")
_UNSEEN = ("tool", "function")
_TEXT_PARTS = ("text", "input_text", "output_text")


@dataclass(frozen=True, slots=True)
class ChatLog:
    """One conversation of a log.

    Attributes:
        turns: What the two sides said to each other, one turn a message.
        system_prompt: What the chatbot was told beforehand, or None.
        unseen: Number of messages that the user did not see (calls of tools and their answers), which are left out.
        id: What the log calls the conversation, or None.
    """

    turns: tuple[Turn, ...]
    system_prompt: str | None = None
    unseen: int = 0
    id: str | None = None


def parse_chat_logs(value: Any) -> list[ChatLog]:
    """Reads one JSON value.

    Args:
        value: A list of messages; an object that holds one under `messages` (with `id`, if it likes); a list of either; or a row
            of a run, with `conversation`.

    Raises:
        ChatLogError: It is none of these, or a message cannot be read.
    """
    if isinstance(value, Mapping):
        return [_of_object(value)]
    if not isinstance(value, list) or not value:
        raise ChatLogError("a conversation is a list of messages with `role` and `content`, or an object with `messages`")
    if all(isinstance(item, Mapping) and "role" in item for item in value):
        return [_of_messages(value)]
    logs = []
    for place, item in enumerate(value):
        if not isinstance(item, list | Mapping) or (isinstance(item, Mapping) and "role" in item):
            raise ChatLogError(f"entry {place + 1} of the list is neither a conversation nor a message beside messages only")
        try:
            logs.append(_of_object(item) if isinstance(item, Mapping) else _of_messages(item))
        except ChatLogError as error:
            raise ChatLogError(f"entry {place + 1}: {error}") from None
    return logs


def _of_object(value: Mapping[str, Any]) -> ChatLog:
    name = next((str(value[key]) for key in ("id", "conversation_id") if value.get(key) not in (None, "")), None)
    if isinstance(value.get("messages"), list):
        return _of_messages(value["messages"], name)
    if isinstance(value.get("conversation"), list):
        return ChatLog(_recorded(value["conversation"]), id=name)
    if "role" in value:
        raise ChatLogError("this is a single message; the messages of a conversation stand together in one list")
    raise ChatLogError("the object has no `messages`, which is a list of messages with `role` and `content`")


def _recorded(records: Sequence[Any]) -> tuple[Turn, ...]:
    try:
        turns = tuple(conversation_from_json(records))
    except RowError as error:
        raise ChatLogError(str(error)) from None
    if not turns:
        raise ChatLogError("the conversation has no turns")
    return turns


def _of_messages(messages: Sequence[Any], name: str | None = None) -> ChatLog:
    turns: list[Turn] = []
    prompts: list[str] = []
    unseen = 0
    for place, role, message in _roles(messages):
        if role in _SYSTEM:
            prompts.append(_text(place, message))
        elif role in _UNSEEN or _only_calls(message):
            unseen += 1
        else:
            turns.append(next_turn(turns, _SPEAKERS[role], _text(place, message)))
    if not turns:
        raise ChatLogError("no message of the user or of the chatbot is in it")
    return ChatLog(tuple(turns), "\n\n".join(prompts) or None, unseen, name)


def _roles(messages: Sequence[Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Place, role and message, for each."""
    for number, message in enumerate(messages, start=1):
        place = f"message {number}"
        if not isinstance(message, Mapping):
            raise ChatLogError(f"{place} is no object with `role` and `content`")
        role = str(message.get("role", "")).strip().lower()
        if role not in (*_SPEAKERS, *_SYSTEM, *_UNSEEN):
            known = ", ".join((*_SPEAKERS, *_SYSTEM, *_UNSEEN))
            raise ChatLogError(f"{place} has the role {message.get('role')!r}; known: {known}")
        yield place, role, message


def _only_calls(message: Mapping[str, Any]) -> bool:
    return not message.get("content") and bool(message.get("tool_calls") or message.get("function_call"))


def _text(place: str, message: Mapping[str, Any]) -> str:
    content = message.get("content", "") if "content" in message else None
    if isinstance(content, str):
        return content
    if content is None and "content" in message:
        return ""
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        other = next((part.get("type") for part in content if part.get("type") not in _TEXT_PARTS), None)
        if other is None and all(isinstance(part.get("text"), str) for part in content):
            return "".join(part["text"] for part in content)
        if other is not None:
            raise ChatLogError(f"{place} holds a part of the type {other!r}; only text can be judged")
    raise ChatLogError(f"{place} has no `content` that is text")
