# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a model answered: how a Responses object is read, and when it is no reply at all.

`reported_fault` and `sent_parameters` read a chat completion just as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vera_mh.errors import ModelError
from vera_mh.models import Json
from vera_mh.usage import is_count

TOKEN_IDS = "generation_token_ids"
"""Key of an output item whose model is in training: the tokens that it sampled."""

_NOT_ANSWERED = ("failed", "cancelled", "queued", "in_progress")
"""What the status of a Responses object says where there is no reply in it."""

NO_ROOM = (
    "the conversation is longer than the model's context length: an empty reply, cut short by length before any token of it "
    "(in NeMo Gym's `vllm_model`, propagate_context_overflow_errors shows the endpoint's own words)"
)


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
    text = (part.get("text") or part.get("refusal")) if isinstance(part, Mapping) else part
    return text if isinstance(text, str) else ""


def is_incomplete(response: Mapping[str, Any]) -> bool:
    """True if a response was cut short: by its token ceiling or by a filter."""
    return response.get("status") == "incomplete" or bool(response.get("incomplete_details"))


def incomplete_reason(response: Mapping[str, Any]) -> str | None:
    """Why a response was cut short, such as `max_output_tokens`; None if it was not, or does not say."""
    details = response.get("incomplete_details") or {}
    return details.get("reason")


def reported_fault(answer: Mapping[str, Any]) -> str | None:
    """What an answer says of an error, in its words; None if it tells of none."""
    fault = answer.get("error")
    if isinstance(fault, Mapping):
        return str(fault.get("message") or fault) if fault else None
    return str(fault) if fault else None


def sent_parameters(answer: Mapping[str, Any]) -> Json:
    """What a model server sent in place of the parameters that it was asked to send, for the record.

    Returns:
        A mapping of the one key `sent_parameters`; an empty one if everything was sent as asked.
    """
    sent = answer.get("x_sent_parameters")
    return {"sent_parameters": sent} if sent else {}


def checked_response(response: Any) -> Json:
    """What a model server answered, if it is a reply: a Responses object, as far as it is read, that tells of no failure.

    An empty `output` is an empty reply.

    Args:
        response: What was received with status 200, as a failure may be too: its empty output is then no turn.

    Returns:
        The response, unchanged.

    Raises:
        ModelError: It tells of a failure, is no reply, or is empty because the conversation filled the model's context.
    """
    if not isinstance(response, dict):
        raise ModelError("the answer is no JSON object")
    if fault := reported_fault(response):
        raise ModelError(fault)
    if response.get("status") in _NOT_ANSWERED:
        raise ModelError(f"the answer is no reply: its status is {response['status']!r}")
    _check_shape(response)
    if _found_no_room(response):
        raise ModelError(NO_ROOM)
    return response


def _check_shape(response: Mapping[str, Any]) -> None:
    output = response.get("output")
    if not (isinstance(output, list) and all(isinstance(item, dict) for item in output)):
        raise ModelError("the answer is no Responses object: `output` is no list of items")
    for place, item in enumerate(output):
        if wrong := textless(item):
            raise ModelError(f"the answer is no Responses object: `output[{place}].{wrong}` is no text")
    for key in ("usage", "incomplete_details"):
        if not isinstance(response.get(key), dict | None):
            raise ModelError(f"the answer is no Responses object: `{key}` is no object")


def textless(item: Mapping[str, Any]) -> str | None:
    """Where a message holds what should be text and is none, such as `content[1]`; None if it does not, or is no message.

    A message without content says nothing, and parts of other kinds than text are not looked into.
    """
    content = item.get("content")
    if content is None or isinstance(content, str) or item.get("type", "message") != "message":
        return None
    if not isinstance(content, list):
        return "content"
    wrong = next((place for place, part in enumerate(content) if not _is_part(part)), None)
    return None if wrong is None else f"content[{wrong}]"


def _is_part(part: Any) -> bool:
    if isinstance(part, Mapping):
        return all(isinstance(part.get(key), str | None) for key in ("text", "refusal"))
    return isinstance(part, str)


def _found_no_room(response: Mapping[str, Any]) -> bool:
    """Whether a reply is empty because the conversation filled the model's context, so that it could not begin.

    A model server may hide the endpoint's refusal behind such a reply, as NeMo Gym's `vllm_model` does. A model that spent its
    budget on reasoning has spent tokens: those are counted, or shown, or there is at least a message that says it is incomplete.
    """
    if incomplete_reason(response) != "max_output_tokens":
        return False
    items = response["output"]
    if output_text(items) or any(item.get("type", "message") != "message" or item.get(TOKEN_IDS) for item in items):
        return False
    spent = (response.get("usage") or {}).get("output_tokens")
    if is_count(spent):
        return bool(spent == 0)
    return bool(items) and all(item.get("status") != "incomplete" for item in items)
