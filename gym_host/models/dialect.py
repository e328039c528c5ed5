# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Between OpenAI's two dialects: *Responses* in and out, *chat completions* to the endpoint. Pure functions.

What a chat endpoint cannot do (state kept by the server, streaming, tools that the provider runs) is refused by name. What
nobody set is not sent: null parameters are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_host.models.dialect_reply import response_from_chat
from gym_host.models.errors import RequestError

__all__ = ["chat_body_from_responses", "response_from_chat"]

_NOT_SENT = frozenset(
    {
        "background",
        "conversation",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "reasoning",
        "store",
        "stream",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "truncation",
    }
)
_IMPOSSIBLE = {
    "background": "this server answers at once",
    "conversation": "this server keeps no conversations; send them as `input`",
    "previous_response_id": "this server keeps no responses; send the conversation as `input`",
    "prompt": "this server keeps no prompts; send them as `input`",
    "stream": "this server does not stream",
}
_TEXT_PARTS = frozenset({"input_text", "output_text", "text"})
# The newer name `developer` is unknown to many endpoints, and those that know it read `system` alike.
_ROLES = {"assistant": "assistant", "developer": "system", "system": "system", "user": "user"}


def chat_body_from_responses(params: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the parameters of a Responses request into a chat-completions body without `model`.

    The limit on output tokens is sent as `max_tokens`: endpoints that want the newer name say so and are adapted to, whereas
    some of those that want the older one ignore the newer without a word. Keys that neither dialect knows are passed on.

    Args:
        params: The request body, as decoded.

    Returns:
        The body for `/chat/completions`.

    Raises:
        RequestError: If something cannot be read or has no counterpart.
    """
    for name, why in _IMPOSSIBLE.items():
        if params.get(name):
            raise RequestError(f"Not supported: {why}", field=name)
    body: dict[str, Any] = {"messages": _messages(params)}
    for name, value in params.items():
        if value is not None and name not in _NOT_SENT:
            body[name] = value
    if params.get("max_output_tokens") is not None:
        body["max_tokens"] = params["max_output_tokens"]
    _add_logprobs(params, body)
    effort = _mapping(params, "reasoning").get("effort")
    if effort is not None:
        body["reasoning_effort"] = effort
    _add_text(_mapping(params, "text"), body)
    _add_tools(params, body)
    return body


def _messages(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if params.get("instructions"):
        messages.append({"role": "system", "content": params["instructions"]})
    items = params.get("input")
    if isinstance(items, str):
        messages.append({"role": "user", "content": items})
        return messages
    if not isinstance(items, list):
        raise RequestError("Must be a text or a list of items", field="input")
    for number, item in enumerate(items):
        field = f"input[{number}]"
        if not isinstance(item, dict):
            raise RequestError("Must be an object", field=field)
        _add_item(item, messages, field)
    if not messages:
        raise RequestError("Holds no message", field="input")
    return messages


def _add_item(item: dict[str, Any], messages: list[dict[str, Any]], field: str) -> None:
    kind = item.get("type") or "message"
    if kind == "message":
        role = _ROLES.get(item.get("role", ""))
        if role is None:
            raise RequestError(f"Must be one of {', '.join(_ROLES)}", field=f"{field}.role")
        messages.append({"role": role, "content": _content(item.get("content"), f"{field}.content")})
    elif kind == "function_call":
        _add_call(item, messages)
    elif kind == "function_call_output":
        output = _content(item.get("output"), f"{field}.output")
        messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": output})
    elif kind != "reasoning":  # a model's earlier reasoning is not shown to it again
        raise RequestError(f"Items of type {kind!r} have no counterpart in chat completions", field=f"{field}.type")


def _add_call(item: dict[str, Any], messages: list[dict[str, Any]]) -> None:
    """Add a call to the assistant's message before it, since all calls of one turn stand in one chat message."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    function = {"name": item.get("name"), "arguments": item.get("arguments") or "{}"}
    call = {"id": item.get("call_id"), "type": "function", "function": function}
    messages[-1].setdefault("tool_calls", []).append(call)


def _content(content: Any, field: str) -> str | list[dict[str, Any]]:
    """Translate content: a plain text where it is all text, since many endpoints take nothing else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RequestError("Must be a text or a list of parts", field=field)
    parts = [_part(part, f"{field}[{number}]") for number, part in enumerate(content)]
    if all(part["type"] == "text" for part in parts):
        return "".join(part["text"] for part in parts)
    return parts


def _part(part: Any, field: str) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    text = part.get("refusal" if kind == "refusal" else "text") if kind in _TEXT_PARTS or kind == "refusal" else None
    if isinstance(text, str):
        return {"type": "text", "text": text}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        detail = {"detail": part["detail"]} if part.get("detail") else {}
        return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}
    raise RequestError(f"A part of type {kind!r} cannot be carried over", field=field)


def _add_logprobs(params: Mapping[str, Any], body: dict[str, Any]) -> None:
    if params.get("top_logprobs") is not None:
        body["top_logprobs"] = params["top_logprobs"]
    if params.get("top_logprobs") or "message.output_text.logprobs" in (params.get("include") or ()):
        body["logprobs"] = True


def _add_text(text: Mapping[str, Any], body: dict[str, Any]) -> None:
    if text.get("verbosity") is not None:
        body["verbosity"] = text["verbosity"]
    wanted = text.get("format") or {}
    kind = wanted.get("type", "text")
    if kind == "json_schema":
        schema = {key: value for key, value in wanted.items() if key != "type" and value is not None}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif kind != "text":
        body["response_format"] = {"type": kind}


def _add_tools(params: Mapping[str, Any], body: dict[str, Any]) -> None:
    """Add tools and what only makes sense with them: some endpoints refuse a choice among none."""
    tools = params.get("tools")
    if not tools:
        return
    body["tools"] = [_tool(tool, f"tools[{number}]") for number, tool in enumerate(tools)]
    if params.get("parallel_tool_calls") is not None:
        body["parallel_tool_calls"] = params["parallel_tool_calls"]
    choice = params.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function":
        choice = {"type": "function", "function": {"name": choice.get("name")}}
    if choice is not None:
        body["tool_choice"] = choice


def _tool(tool: Any, field: str) -> dict[str, Any]:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise RequestError("Only tools of type 'function' can be carried over", field=f"{field}.type")
    function = {key: value for key, value in tool.items() if key != "type" and value is not None}
    return {"type": "function", "function": function}


def _mapping(params: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = params.get(name) or {}
    if not isinstance(value, dict):
        raise RequestError("Must be an object", field=name)
    return value
