# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A model server in front of any OpenAI-compatible endpoint.

`POST /v1/responses` and `POST /v1/chat/completions` both become chat completions of the configured model. Retries, limits and
the adaptation of refused parameters happen here, so that whoever asks gets a usable reply or one error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, ClassVar

import orjson
from fastapi import FastAPI, Request, Response
from pydantic import ConfigDict, Field, SecretStr

from gym_host.config.prices import PricePerMillion
from gym_host.config.settings import ServerSettings
from gym_host.models.dialect import chat_body_from_responses, response_from_chat
from gym_host.models.endpoint import ChatReply, Endpoint, EndpointSettings
from gym_host.models.errors import ChatError, RequestError
from gym_host.serving.process import serve
from gym_host.serving.server import JsonBytes, ServerContext, base_app

# Where a reply says that parameters were adapted: their names and what was really sent, null for those left out.
SENT_KEY = "x_sent_parameters"
# How a caller names the parameters that no user set by hand, beside those of the settings: separated by commas.
ADAPTABLE_HEADER = "x-adaptable-parameters"

_STATUS_OF_KIND = {"rate_limited": 429, "timeout": 504}
_REQUEST_FAULTS = frozenset({400, 413, 422})


class Settings(ServerSettings):
    """Settings of the model server. Those of the endpoint are explained in `EndpointSettings`."""

    model_config = ConfigDict(hide_input_in_errors=True)

    NOT_IDENTITY: ClassVar[frozenset[str]] = ServerSettings.NOT_IDENTITY | {
        "api_key",
        "backoff_base_seconds",
        "backoff_max_seconds",
        "connect_timeout_seconds",
        "max_attempts",
        "num_concurrent_requests",
        "price_per_million",
        "request_timeout_seconds",
        "retry_after_cap_seconds",
    }

    base_url: str = Field(repr=False)
    api_key: SecretStr | None = None
    model: str
    default_headers: dict[str, str] = Field(default_factory=dict, repr=False)
    extra_body: dict[str, Any] = Field(default_factory=dict, repr=False)
    adaptable_parameters: list[str] = []
    price_per_million: PricePerMillion | None = None
    num_concurrent_requests: int = Field(1000, ge=1)
    request_timeout_seconds: float = Field(600.0, gt=0)
    connect_timeout_seconds: float = Field(10.0, gt=0)
    max_attempts: int = Field(5, ge=1)
    retry_after_cap_seconds: float = Field(60.0, ge=0)
    backoff_base_seconds: float = Field(0.5, ge=0)
    backoff_max_seconds: float = Field(30.0, ge=0)

    def endpoint(self) -> EndpointSettings:
        """The part that the endpoint is made of."""
        return EndpointSettings(
            base_url=self.base_url,
            model=self.model,
            api_key=self.api_key.get_secret_value() if self.api_key else "",
            default_headers=self.default_headers,
            extra_body=self.extra_body,
            num_concurrent_requests=self.num_concurrent_requests,
            request_timeout_seconds=self.request_timeout_seconds,
            connect_timeout_seconds=self.connect_timeout_seconds,
            max_attempts=self.max_attempts,
            retry_after_cap_seconds=self.retry_after_cap_seconds,
            backoff_base_seconds=self.backoff_base_seconds,
            backoff_max_seconds=self.backoff_max_seconds,
        )


def create_app(settings: Settings, context: ServerContext) -> FastAPI:
    """Build the server.

    Raises:
        ConfigError: If the URL, the key or a header cannot be used.
    """
    endpoint = Endpoint(settings.endpoint())
    adaptable = frozenset(settings.adaptable_parameters)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with endpoint:
            yield

    async def ask(request: Request, body: Mapping[str, Any]) -> ChatReply:
        named = request.headers.get(ADAPTABLE_HEADER)
        return await endpoint.chat(body, adaptable.union(name.strip() for name in named.split(",")) if named else adaptable)

    async def responses(request: Request) -> Response:
        params = await _decoded(request, "input")
        reply = await ask(request, chat_body_from_responses(params))
        return JsonBytes(response_from_chat(params, reply.body) | _receipt(reply))

    async def chat_completions(request: Request) -> Response:
        body = await _decoded(request, "messages")
        body.pop("model", None)
        if body.get("stream"):
            raise RequestError("Not supported: this server does not stream", field="stream")
        if not isinstance(body["messages"], list) or not body["messages"]:
            raise RequestError("Must be a list of messages", field="messages")
        reply = await ask(request, body)
        return JsonBytes({**reply.body, **_receipt(reply)})

    async def preflight(request: Request) -> Response:
        await endpoint.reach()
        return JsonBytes({"status": "ok"})

    async def standing(request: Request) -> Response:
        return JsonBytes(asdict(endpoint.standing))

    app = base_app(context, lifespan=lifespan)
    app.add_exception_handler(ChatError, _chat_error)
    app.add_exception_handler(RequestError, _request_error)
    # Plain routes: FastAPI's reading of parameters costs as much again as all else here, and there are none to read.
    app.add_plain_route("/preflight", preflight)
    app.add_plain_route("/standing", standing)
    app.add_plain_route("/v1/responses", responses, needs={"input": {"type": ["string", "array"]}})
    app.add_plain_route(
        "/v1/chat/completions", chat_completions, needs={"messages": {"type": "array", "items": {"type": "object"}}}
    )
    return app


async def _decoded(request: Request, needed: str) -> dict[str, Any]:
    try:
        # Read here and not by `request.body()`, which would keep the bytes for as long as the call takes.
        body = orjson.loads(b"".join([part async for part in request.stream()]))
    except orjson.JSONDecodeError as error:
        raise RequestError(f"Is no JSON: {error}", field="body") from None
    if not isinstance(body, dict):
        raise RequestError("Must be a JSON object", field="body")
    if body.get(needed) is None:
        raise RequestError("Is missing", field=needed)
    return body


def _receipt(reply: ChatReply) -> dict[str, Any]:
    return {SENT_KEY: reply.sent} if reply.sent else {}


async def _chat_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ChatError)
    status = _STATUS_OF_KIND.get(error.kind, 502)
    if error.kind == "refused" and error.status in _REQUEST_FAULTS:
        status = 400
    shown = {"message": error.message, "type": error.kind, "code": error.status, "attempts": error.attempts}
    if error.detail:
        shown["detail"] = error.detail
    return JsonBytes({"error": shown}, status_code=status)


async def _request_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    shown = {"message": str(error), "type": "invalid_request_error", "param": error.field, "code": 422}
    return JsonBytes({"error": shown}, status_code=422)


if __name__ == "__main__":
    serve(Settings, create_app)
