# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A policy for the example: at each turn a coin decides whether it speaks carefully or carelessly.

It stands in for a model in training. Like a server that a trainer samples from, it returns with each reply the token ids and the
log-probabilities that the trainer needs; here a token is simply a byte.
"""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pydantic import Field

from gym_host.config.settings import ServerSettings
from gym_host.models.dialect import chat_body_from_responses
from gym_host.models.script import load_script
from gym_host.serving.process import serve
from gym_host.serving.server import JsonBytes, ServerContext, base_app

SCRIPTS = Path(__file__).parents[4] / "benchmarks" / "vera_mh_demo" / "scripts"


class Settings(ServerSettings):
    """Settings of the policy."""

    model: str = "coin"
    careful: float = Field(0.7, ge=0, le=1, description="probability of a careful reply")
    seed: int = 0


def create_app(settings: Settings, context: ServerContext) -> FastAPI:
    """Builds the policy."""
    scripts = {name: load_script(SCRIPTS / f"{name}.yaml") for name in ("careful", "careless")}
    chance = {"careful": settings.careful, "careless": 1 - settings.careful}
    coin = random.Random(settings.seed)
    app = base_app(context)

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> JsonBytes:
        """One reply, with token ids and log-probabilities."""
        messages = chat_body_from_responses(body)["messages"]
        manner = "careful" if coin.random() < settings.careful else "careless"
        text = scripts[manner].reply(messages)
        tokens = list(text.encode())
        prompt = "".join(message["content"] for message in messages)
        item = {
            "type": "message",
            "id": f"msg_{coin.getrandbits(32):08x}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
            "prompt_token_ids": list(prompt.encode()),
            "generation_token_ids": tokens,
            "generation_log_probs": [math.log(chance[manner]), *[0.0] * (len(tokens) - 1)],
        }
        return JsonBytes(
            {
                "id": f"resp_{coin.getrandbits(32):08x}",
                "object": "response",
                "created_at": 0,
                "model": settings.model,
                "status": "completed",
                "output": [item],
                "parallel_tool_calls": True,
                "tool_choice": "auto",
                "tools": [],
                "usage": {"input_tokens": len(prompt), "output_tokens": len(tokens), "total_tokens": len(prompt) + len(tokens)},
            }
        )

    return app


if __name__ == "__main__":
    serve(Settings, create_app)
