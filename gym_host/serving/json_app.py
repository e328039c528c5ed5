# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON in and out of an app: read and written with orjson, and what is wrong with a body is a 422 that says what and where."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

Handler = Callable[[Request], Awaitable[Response]]


class UnwritableAnswer(Exception):
    """An answer holds what JSON cannot hold, such as a nesting of hundreds of levels."""


class JsonBytes(Response):
    """An answer written with orjson: no validation, no second pass over a large body."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return orjson.dumps(content)
        except orjson.JSONEncodeError as error:
            raise UnwritableAnswer(f"the answer cannot be written as JSON: {error}") from None


class _JsonRequest(Request):
    """A request whose body is read strictly: no half surrogate pairs, no NaN, no nesting that could not be written again."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json


class _JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_JsonRequest(request.scope, request.receive))

        return handle


def read_json(content: bytes) -> Any:
    """The value of a JSON text.

    Raises:
        orjson.JSONDecodeError: It is none, or none that can be written again.
    """
    value = orjson.loads(content)
    try:
        orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise orjson.JSONDecodeError("nested too deeply", "", 0) from None
    return value


def row_of(model: type[BaseModel]) -> Callable[[Request], Awaitable[dict[str, Any]]]:
    """A dependency of an endpoint that works long on large rows: the row as it came, once a model has found it right.

    Neither its bytes nor a second copy of it are kept by the request, as they are for a parameter.

    Args:
        model: What a row must be.
    """

    async def read(request: Request) -> dict[str, Any]:
        try:
            row = read_json(b"".join([part async for part in request.stream()]))
            model.model_validate(row)
        except orjson.JSONDecodeError as error:
            fault = {"type": "json_invalid", "loc": ("body", error.pos), "msg": "JSON decode error", "ctx": {"error": error.msg}}
            raise RequestValidationError([fault]) from None
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)
            raise RequestValidationError([{**fault, "loc": ("body", *fault["loc"])} for fault in faults]) from None
        return dict(row)

    return read


def described_body(model: type[BaseModel]) -> dict[str, Any]:
    """What the description of such an endpoint says of its body: the `openapi_extra` of its route."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


class JsonApp(FastAPI):
    """An app whose routes take and give JSON."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.router.route_class = _JsonRoute
        self.add_exception_handler(RequestValidationError, _invalid)
        self.add_exception_handler(UnwritableAnswer, unprocessable)
        self._plain: dict[str, Any] = {}

    def add_plain_route(self, path: str, handler: Handler, *, needs: Mapping[str, Any] | None = None) -> None:
        """Adds a route without FastAPI's reading of parameters, which costs more than all that a fast handler does.

        Args:
            path: Its path.
            handler: Takes the request.
            needs: The keys that a body must have, with the JSON schema of each; None for a GET.
        """
        self.add_route(path, handler, methods=["GET" if needs is None else "POST"], include_in_schema=False)
        operation: dict[str, Any] = {"summary": (handler.__doc__ or path).strip(), "responses": {"200": {"description": "OK"}}}
        if needs is not None:
            schema = {"type": "object", "properties": dict(needs), "required": list(needs)}
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
            operation["responses"]["422"] = {"description": "The body is wrong; the answer says where"}
        self._plain[path] = {"get" if needs is None else "post": operation}

    def openapi(self) -> dict[str, Any]:
        """The description of all routes, plain ones included."""
        described = super().openapi()
        described["paths"] |= self._plain
        return described


async def unprocessable(request: Request, error: Exception) -> Response:
    """Exception handler for errors that say what is wrong with a request: status 422, in the error's words."""
    return JsonBytes({"detail": str(error)}, status_code=422)


async def _invalid(request: Request, error: Exception) -> Response:
    """What is wrong with a body, field by field; the values are the caller's own, and are not sent back."""
    assert isinstance(error, RequestValidationError)
    return JsonBytes({"detail": [_fault(found) for found in error.errors()]}, status_code=422)


def _fault(found: Mapping[str, Any]) -> dict[str, Any]:
    why = found.get("ctx", {}).get("error")
    message = found["msg"] if not why or str(why) in found["msg"] else f"{found['msg']}: {why}"
    return {"loc": list(found["loc"]), "msg": message, "type": found["type"]}
