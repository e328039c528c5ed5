# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Models that say what a test wants: as objects for the library, and as model servers for the servers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import FastAPI, Request

from gym_host.serving.server import JsonBytes
from vera_mh.errors import ModelError
from vera_mh.models import Json
from vera_mh.responses import output_text
from vera_mh.simulation import Side
from vera_mh.turns import PERSONA, PROVIDER, Exchange, next_turn

USAGE = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
BAD_REPLY = "I would rather say: No."


def verdict(answer: str, reasoning: str = "Because.") -> str:
    """A judge's reply as it should be."""
    return json.dumps({"answer": answer, "reasoning": reasoning})


def completion(content: str | None, number: int = 1) -> Json:
    return {
        "id": f"chatcmpl-{number}",
        "model": "judge-served",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": USAGE,
    }


def message(text: str) -> Json:
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def reasoning(text: str) -> Json:
    return {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": text}]}


def refusal(text: str) -> Json:
    return message("") | {"content": [{"type": "refusal", "refusal": text}]}


def response(*output: Json, **more: Any) -> Json:
    """A Responses object with these output items."""
    return {"id": "resp_1", "object": "response", "model": "served", "status": "completed", "output": list(output), **more}


class Listed:
    """A model that gives its replies in order, and keeps what it was asked.

    Args:
        replies: Texts, whole answers, or errors to raise.
    """

    def __init__(self, replies: Iterable[str | Json | None | Exception]) -> None:
        self._replies: Iterator[str | Json | None | Exception] = iter(replies)
        self.bodies: list[Json] = []

    def _next(self, body: Json) -> str | Json | None:
        self.bodies.append(body)
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def complete(self, body: Json) -> Json:
        reply = self._next(body)
        return reply if isinstance(reply, dict) else completion(reply, len(self.bodies))

    async def respond(self, params: Json) -> Json:
        reply = self._next(params)
        return reply if isinstance(reply, dict) else response(message(reply or ""))


def exchanges_of(*responses: str | Json) -> list[Exchange]:
    """Exchanges in turn, the persona's first; a text is a reply that is nothing but text."""
    exchanges: list[Exchange] = []
    for number, each in enumerate(responses, start=1):
        answer = each if isinstance(each, dict) else response(message(each))
        speaker, text = PERSONA if number % 2 else PROVIDER, output_text(answer["output"])
        turn = next_turn([exchange.turn for exchange in exchanges], speaker, text)
        exchanges.append(Exchange(turn, answer, "server", 1.0))
    return exchanges


def side(model: Listed, server: str, **params: Any) -> Side:
    return Side(model, server, f"You are {server}.", params)


def model_server(model: Listed) -> FastAPI:
    """A model as a server; an error of the model is an error status in OpenAI's words."""
    app = FastAPI()

    @app.exception_handler(ModelError)
    async def refuse(request: Request, error: ModelError) -> JsonBytes:
        return JsonBytes({"error": {"message": error.message}}, status_code=error.status or 502)

    @app.post("/v1/chat/completions")
    async def chat_completions(body: dict[str, Any]) -> JsonBytes:
        return JsonBytes(await model.complete(body))

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> JsonBytes:
        return JsonBytes(await model.respond(body))

    return app
