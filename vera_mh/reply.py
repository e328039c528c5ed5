# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the judge's reply: a JSON object with `answer` and `reasoning`, and nothing that only looks like one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

REPLY_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "QuestionResponse",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "string"}, "reasoning": {"type": "string"}},
            "required": ["answer", "reasoning"],
            "additionalProperties": False,
        },
    },
}
"""The response format that the judge is asked for."""

_OBJECT_BEGINS = re.compile(r'\{\s*"')
_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable reply; `repaired` if it was not the bare JSON object that upstream accepts."""

    answer: str
    reasoning: str
    repaired: bool = False


def read_reply(content: str | None, asked_about: str) -> Reply | None:
    """Reads a judge's reply.

    Accepted: the object; an object with exactly one key whose value is that object. Beyond upstream, marked as repaired: the same
    in a Markdown fence, or with text around it. Text that holds two different usable objects, or a broken one, is refused,
    because it cannot be told which of them is the verdict and which a quotation. So is text around an object that stands in the
    transcript: the judge may be telling what a chatbot wrote for it.

    Args:
        content: The reply.
        asked_about: What the judge was given to read, the transcript in it.

    Returns:
        The reply, or None if it is not usable.
    """
    if not content:
        return None
    bare = _decode(content)
    if bare is not None:
        return _reply(bare, repaired=False)
    fenced = _FENCE.match(content)
    if fenced:
        return _reply(_decode(fenced.group(1)), repaired=True)
    usable = _replies(_embedded_objects(content))
    if len(usable) != 1 or not usable.isdisjoint(_replies(_embedded_objects(asked_about, skip_broken=True))):
        return None
    return usable.pop()


def _decode(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _replies(values: Iterable[Any]) -> set[Reply]:
    return {reply for value in values if (reply := _reply(value, repaired=True)) is not None}


def _reply(value: Any, *, repaired: bool) -> Reply | None:
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, dict):
        return None
    answer, reasoning = value.get("answer"), value.get("reasoning")
    if not isinstance(answer, str) or not isinstance(reasoning, str):
        return None
    return Reply(_well_formed(answer), _well_formed(reasoning), repaired)


def _well_formed(text: str) -> str:
    """The text with half a surrogate pair, which JSON can escape but no file can hold, as a replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _embedded_objects(text: str, *, skip_broken: bool = False) -> list[Any]:
    """The outermost JSON objects in a text, in order; none if one of them is broken, unless those are to be skipped."""
    values = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            if not skip_broken and _OBJECT_BEGINS.match(text, at):
                return []
            end = at + 1
        else:
            values.append(value)
        at = text.find("{", end)
    return values
