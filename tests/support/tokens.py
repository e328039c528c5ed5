# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Tokens of an engine that serves a model in training: enough to see whether the turns of a rollout join into one sequence.

What such a model samples is seldom what its text, tokenized anew, would come to. So the tokenizer here takes whole words, and
the sampler single characters: a prompt goes on from what was sampled only if it is given the sampled tokens back.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.replies import heard

_ROLES = {"system": 1, "user": 2, "assistant": 3}
_END = 4
_FIRST_CHARACTER, _FIRST_WORD = 10, 2_000_000


def tokens_of(text: str) -> list[int]:
    """A text as the tokenizer reads it."""
    return [_FIRST_WORD + zlib.crc32(word.encode()) % 1_000_000 for word in re.findall(r"\s*\S+", text)]


def sampled_tokens(text: str) -> list[int]:
    """A text as the model samples it, the end of its turn included."""
    return [*(_FIRST_CHARACTER + ord(character) for character in text), _END]


def log_probs_of(tokens: Sequence[int]) -> list[float]:
    """What the sampler says of its tokens."""
    return [-(1 + (token + place) % 97) / 100 for place, token in enumerate(tokens)]


def prompt_tokens(messages: list[dict[str, Any]]) -> list[int]:
    """A prompt as the engine makes it of chat messages: the tokens of the last one that brings them, then all that follows."""
    tokens: list[int] = []
    rest = messages
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("prompt_token_ids") is not None:
            tokens = [*messages[place]["prompt_token_ids"], *messages[place]["generation_token_ids"]]
            rest = messages[place + 1 :]
            break
    for message in heard(rest):
        tokens += [_ROLES[message["role"]], *tokens_of(message["content"]), _END]
    return [*tokens, _ROLES["assistant"]]


def said(message: Mapping[str, Any]) -> str:
    """All that the model said in a completion's message, its reasoning first."""
    return (message.get("reasoning_content") or "") + (message.get("content") or "")


def choice_logprobs(text: str) -> dict[str, Any]:
    """The tokens of a text as vLLM reports them under `return_tokens_as_token_ids`."""
    tokens = sampled_tokens(text)
    entries: list[dict[str, Any]] = [
        {"token": f"token_id:{token}", "logprob": log_prob, "bytes": None, "top_logprobs": []}
        for token, log_prob in zip(tokens, log_probs_of(tokens), strict=True)
    ]
    return {"content": entries, "refusal": None}


def assert_joined(output: list[dict[str, Any]]) -> int:
    """Asserts of a response's output what a trainer asserts: every prompt goes on from all that was prompted and sampled before.

    Returns:
        How many items carry tokens.
    """
    sampled = [item for item in output if item.get("generation_token_ids")]
    seen: list[int] = []
    for item in sampled:
        assert item["prompt_token_ids"][: len(seen)] == seen
        assert len(item["prompt_token_ids"]) > len(seen)
        assert item["generation_log_probs"] == log_probs_of(item["generation_token_ids"])
        assert text_of_tokens(item["generation_token_ids"]) == text_of_item(item)
        seen = [*item["prompt_token_ids"], *item["generation_token_ids"]]
    return len(sampled)


def text_of_tokens(sampled: Sequence[int]) -> str:
    """The text that was sampled."""
    assert sampled[-1] == _END
    return "".join(chr(token - _FIRST_CHARACTER) for token in sampled[:-1])


def text_of_item(item: Mapping[str, Any]) -> str:
    parts = item.get("content") or item.get("summary") or ()
    return "".join(part["text"] for part in parts)
