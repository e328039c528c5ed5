# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A policy server as a trainer runs it: a reply comes with the tokens of its prompt, those sampled and their log-probabilities.

What it samples is not what its text, tokenized anew, comes to.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from gym_host.serving.server import JsonBytes, ServerContext, base_app
from tests.support.replies import heard, turn_of
from tests.support.tokens import log_probs_of, prompt_tokens, sampled_tokens

Json = dict[str, Any]


def create_app(context: ServerContext) -> FastAPI:
    """Builds the server."""
    app = base_app(context)

    @app.post("/v1/responses")
    async def responses(body: Json) -> JsonBytes:
        """One reply, in two items: reasoning, and a message that carries the tokens."""
        messages = [item for item in body["input"] if item.get("type", "message") == "message"]
        turn = turn_of(messages) + 1
        thought = {"type": "reasoning", "id": f"rs_{turn}", "summary": [{"type": "summary_text", "text": f"It is turn {turn}."}]}
        output = [thought, message_with_tokens(f"I hear you ({turn}). Go on.", messages, f"msg_{turn}")]
        return JsonBytes({"id": f"resp_{turn}", "object": "response", "model": "in-training", "output": output})

    return app


def message_with_tokens(text: str, messages: list[Json], id_: str) -> Json:
    """An output message as NeMo Gym's `vllm_model` gives it with `return_token_id_information`."""
    sampled = sampled_tokens(text)
    return {
        "type": "message",
        "id": id_,
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
        "prompt_token_ids": prompt_tokens(messages),
        "generation_token_ids": sampled,
        "generation_log_probs": log_probs_of(sampled),
    }


def texts_of(items: list[Json]) -> list[str]:
    """What was said in the messages among some items."""
    return [message["content"] for message in heard([item for item in items if item.get("type", "message") == "message"])]
