# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""From a chat completion to a Responses object: the way back of `gym_host.models.dialect`."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

_INCOMPLETE_REASONS = {
    "content_filter": "content_filter",
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
}
# Readers that validate a Responses object accept these and no others; a provider may answer with any word.
_SERVICE_TIERS = frozenset({"auto", "default", "flex", "priority", "scale"})
_LARGEST_COUNT = 2**53 - 1
"""Up to here every reader of JSON reads the same whole number."""
_ECHOED = (
    "instructions",
    "max_output_tokens",
    "metadata",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "temperature",
    "text",
    "top_p",
    "truncation",
    "user",
)


def response_from_chat(params: Mapping[str, Any], chat_reply: Mapping[str, Any]) -> dict[str, Any]:
    """Build the Responses object of a chat completion.

    The reply is the message's content or refusal and never its reasoning: where the reasoning used up the budget, the message
    is empty and the status `incomplete`. What the provider did not say stays null, which is not zero.

    Args:
        params: The Responses request that was answered.
        chat_reply: The decoded chat completion; its first choice is used.

    Returns:
        The object, ready to be encoded. Its id is the provider's with a prefix.
    """
    choice: Mapping[str, Any] = chat_reply["choices"][0]
    reason = _INCOMPLETE_REASONS.get(str(choice.get("finish_reason")).lower())
    key = str(chat_reply.get("id") or uuid.uuid4().hex)
    status = "incomplete" if reason else "completed"
    response = {
        "id": f"resp_{key}",
        "object": "response",
        "created_at": _count(chat_reply.get("created")) or int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "model": _text(chat_reply.get("model")) or params.get("model") or "",
        "output": _output(choice, key, status),
        "usage": _usage(chat_reply.get("usage")),
    }
    for name in _ECHOED:
        response[name] = params.get(name)
    tier = _text(chat_reply.get("service_tier"))
    response["service_tier"] = tier if tier in _SERVICE_TIERS else None
    response["tools"] = params.get("tools") or []
    response["tool_choice"] = params.get("tool_choice") or "auto"
    parallel = params.get("parallel_tool_calls")
    response["parallel_tool_calls"] = True if parallel is None else parallel
    return response


def _output(choice: Mapping[str, Any], key: str, status: str) -> list[dict[str, Any]]:
    message = choice["message"]
    text, thought = _texts(message.get("content"))
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning")) or thought
    output: list[dict[str, Any]] = []
    if reasoning:
        summary = [{"type": "summary_text", "text": reasoning}]
        output.append({"id": f"rs_{key}", "type": "reasoning", "summary": summary, "status": status})
    calls = _objects(message.get("tool_calls"))
    refusal = _text(message.get("refusal"))
    content: list[dict[str, Any]] = []
    if text or not (refusal or calls):
        content.append({"type": "output_text", "text": text, "annotations": [], **_logprobs(choice)})
    if refusal:
        content.append({"type": "refusal", "refusal": refusal})
    if content:
        output.append({"id": f"msg_{key}", "type": "message", "role": "assistant", "status": status, "content": content})
    output.extend(_call(call, f"fc_{key}_{number}", status) for number, call in enumerate(calls))
    return output


def _texts(content: Any) -> tuple[str, str]:
    """The reply and the reasoning in a message's content, which some providers split into parts."""
    if not isinstance(content, list):
        return _text(content), ""
    parts = _objects(content)
    reply = "".join(_text(part.get("text")) for part in parts if part.get("type") in ("text", "output_text"))
    thinking = [part.get("thinking") for part in parts if part.get("type") == "thinking"]
    return reply, "".join(_texts(thought)[0] for thought in thinking)


def _call(call: Mapping[str, Any], key: str, status: str) -> dict[str, Any]:
    function = _object(call.get("function"))
    return {
        "id": key,
        "type": "function_call",
        "call_id": _text(call.get("id")) or key,
        "name": _text(function.get("name")),
        "arguments": _text(function.get("arguments")),
        "status": status,
    }


def _logprobs(choice: Mapping[str, Any]) -> dict[str, Any]:
    tokens = _object(choice.get("logprobs")).get("content")
    return {"logprobs": tokens} if isinstance(tokens, list) else {}


def _usage(reported: Any) -> dict[str, Any] | None:
    """Rename the token counts; None if neither side is known."""
    usage = _object(reported)
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    total = _count(usage.get("total_tokens"))
    if total is None and prompt is not None and completion is not None:
        total = prompt + completion
    prompt_details = _object(usage.get("prompt_tokens_details"))
    completion_details = _object(usage.get("completion_tokens_details"))
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": _count(prompt_details.get("cached_tokens")),
            "cache_write_tokens": _count(prompt_details.get("cache_write_tokens")),
        },
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": _count(completion_details.get("reasoning_tokens"))},
        "total_tokens": total,
    }


# A reply is paid for, so that what stands beside its text in an odd shape is taken for what nobody said.


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _count(value: Any) -> int | None:
    """A whole number that can count something; None for all else, which is not zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _LARGEST_COUNT and value % 1 == 0 else None
