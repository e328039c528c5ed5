# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Reading the judge's reply: a JSON object with `answer` and `reasoning`, and nothing that only looks like one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
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

BROKEN_AT_MOST = 50
"""Objects that are begun and broken in what the judge was given to read, until the search of it is given up."""

_OBJECT_BEGINS = re.compile(r'\{\s*"')
_FENCE = "```"
_LANGUAGE = re.compile(r"[\w-]*\s*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable reply; `repaired` if it was not the bare JSON object that upstream accepts."""

    answer: str
    reasoning: str
    repaired: bool = False


@dataclass(slots=True)
class JudgePrompt:
    """The judge's system prompt, the transcript in it, as what a reply may quote: searched at most once, and only when needed.

    A chatbot may have written whatever it likes, so the search is bounded: a text with too many broken objects is not
    searched to its end, and may contain anything.

    Attributes:
        text: The prompt.
    """

    text: str
    _searched: bool = field(default=False, init=False, repr=False)
    _replies: set[Reply] | None = field(default=None, init=False, repr=False)

    def may_contain(self, reply: Reply) -> bool:
        """Whether the prompt contains an object of this content; True as well where it was not searched to its end."""
        if not self._searched:
            self._searched = True
            # JSON may write any letter of a key as an escape.
            likely = '"answer"' in self.text or "\\u" in self.text
            found = _embedded_objects(self.text, broken_at_most=BROKEN_AT_MOST) if likely else []
            self._replies = None if found is None else _replies(found)
        return self._replies is None or reply in self._replies


def read_reply(content: str | None, judge_prompt: JudgePrompt) -> Reply | None:
    """Reads a judge's reply.

    Accepted: the object; an object with exactly one key whose value is that object. Beyond upstream, marked as repaired: the same
    in a Markdown fence, or with text around it. Text that holds two different usable objects, or a broken one, is refused,
    because nothing says which of them is the verdict and which a quotation. So is text around an object that stands, or may
    stand, in the transcript: the judge may be telling what a chatbot wrote for it.

    Args:
        content: The reply.
        judge_prompt: What the judge was given to read, so that a quotation is known.

    Returns:
        The reply, or None if it is not usable.
    """
    if not content:
        return None
    bare = _decode(content)
    if bare is not None:
        return _reply(bare, repaired=False)
    fenced = _fenced(content)
    if fenced is not None:
        return _reply(_decode(fenced), repaired=True)
    usable = _replies(_embedded_objects(content, broken_at_most=0) or [])
    if len(usable) != 1:
        return None
    reply = usable.pop()
    return None if judge_prompt.may_contain(reply) else reply


def _fenced(content: str) -> str | None:
    """What stands in a Markdown fence, if the text is nothing else."""
    text = content.strip()
    if len(text) < 2 * len(_FENCE) or not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return None
    language, line_end, inner = text[len(_FENCE) : -len(_FENCE)].partition("\n")
    return inner.strip() if line_end and _LANGUAGE.fullmatch(language) else None


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


def _embedded_objects(text: str, *, broken_at_most: int) -> list[Any] | None:
    """The outermost JSON objects in a text that have a key, in order; None if more of them are broken than may be.

    A decoder that fails counts the lines before its place, or goes as deep as it can: each failure costs the length of the text.
    """
    values, broken = [], 0
    at = text.find("{")
    while at >= 0:
        end = at + 1
        if _OBJECT_BEGINS.match(text, at):
            try:
                value, end = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                broken += 1
                if broken > broken_at_most:
                    return None
            else:
                values.append(value)
        at = text.find("{", end)
    return values
