# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A model server without a model: it says what a script says. For demos and tests, offline and without keys."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import orjson
from fastapi import FastAPI
from pydantic import Field

from gym_host.config.prices import PricePerMillion
from gym_host.config.settings import ServerSettings
from gym_host.errors import ConfigError
from gym_host.models.dialect import chat_body_from_responses
from gym_host.models.dialect_reply import response_from_chat
from gym_host.models.errors import RequestError
from gym_host.models.script import Script, load_script
from gym_host.serving.calls import Json
from gym_host.serving.process import serve
from gym_host.serving.server import JsonBytes, ServerContext, base_app, unprocessable
from gym_host.wording import suggestion

ROOT = Path(__file__).parents[2]


class Settings(ServerSettings):
    """Settings of a scripted model."""

    NOT_IDENTITY: ClassVar[frozenset[str]] = ServerSettings.NOT_IDENTITY | {"price_per_million"}

    model: str = Field(description="the name that it answers under")
    script: Path = Field(description="the script, a YAML file; relative to the working directory or to the components")
    price_per_million: PricePerMillion | None = Field(None, description="what its tokens are said to cost")


def find_script(path: Path) -> Path:
    """The script's file.

    Raises:
        ConfigError: There is none; the message names those beside it.
    """
    candidates = [Path.cwd() / path, ROOT / path]
    found = next((candidate for candidate in candidates if candidate.is_file()), None)
    if found is not None:
        return found
    known = [other.stem for candidate in candidates for other in candidate.parent.glob("*.yaml")]
    raise ConfigError(f"there is no script `{path.stem}`", where=str(path), mend=suggestion(path.stem, known))


def completion(script: Script, model: str, body: Mapping[str, Any]) -> Json:
    """A chat completion that says what the script says. Everything in it follows from the request, the time apart."""
    messages = [{"role": str(message.get("role")), "content": _text(message.get("content"))} for message in body["messages"]]
    said = script.reply(messages)
    heard = orjson.dumps(messages)
    usage = {"prompt_tokens": len(heard) // 4, "completion_tokens": len(said) // 4 + 1}
    return {
        "id": f"chatcmpl-{hashlib.sha256(heard).hexdigest()[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
        "usage": usage | {"total_tokens": usage["prompt_tokens"] + usage["completion_tokens"]},
    }


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return str(content or "")


def validate(settings: Settings) -> list[str]:
    """What is wrong with the script."""
    try:
        load_script(find_script(settings.script))
    except ConfigError as error:
        return ["; ".join(part for part in (error.what, error.mend) if part)]
    return []


def create_app(settings: Settings, context: ServerContext) -> FastAPI:
    """Builds the model server.

    Raises:
        ConfigError: The script is not there or cannot be read.
    """
    path = find_script(settings.script)
    script = load_script(path)
    app = base_app(context, about={"script_sha256": hashlib.sha256(path.read_bytes()).hexdigest()})
    app.add_exception_handler(RequestError, unprocessable)

    @app.post("/v1/chat/completions")
    async def chat_completions(body: dict[str, Any]) -> JsonBytes:
        """One chat completion."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
            raise RequestError("must be a list of messages", field="messages")
        return JsonBytes(completion(script, settings.model, body))

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> JsonBytes:
        """One response."""
        chat = completion(script, settings.model, chat_body_from_responses(body))
        return JsonBytes(response_from_chat(body, chat))

    return app


if __name__ == "__main__":
    serve(Settings, create_app)
