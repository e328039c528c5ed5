# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What every server is made of, and how it starts as a process of its own.

A server's `app.py` holds `Settings` (a `ServerSettings`), `create_app(settings, context)`, and under `__main__` a call of
`serve`. Our host builds the app in its own process; NeMo Gym runs `python app.py` with two environment variables. The app
is the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

import orjson
import uvicorn
import yaml
from fastapi import FastAPI, Request, Response

from gym_host.calls import HttpCalls, Json, ServerCalls
from gym_host.errors import ConfigError, ServerError, UserError
from gym_host.settings import ServerSettings, parse_settings

CONFIG_VARIABLE = "NEMO_GYM_CONFIG_DICT"
NAME_VARIABLE = "NEMO_GYM_CONFIG_PATH"
HTTP_TYPES = ("resources_servers", "responses_api_agents", "responses_api_models")

SettingsT = TypeVar("SettingsT", bound=ServerSettings)


@dataclass(frozen=True, slots=True)
class ServerContext:
    """What a server is given besides its settings.

    Attributes:
        name: Name of its instance in the configuration.
        servers: Calls to the other servers by name.
    """

    name: str
    servers: ServerCalls


class JsonBytes(Response):
    """An answer written with orjson: no validation, no second pass over a large body."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def base_app(
    context: ServerContext,
    *,
    about: Mapping[str, Any] | None = None,
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> FastAPI:
    """An app with `/livez` and `/`, in which an error of another server is passed on in that server's words.

    Args:
        context: The server's context.
        about: What a result must say of this server (a pack's hash, a rubric's version); shown at `/` and kept in `x_run.json`.
        lifespan: Opens and closes what the server holds.
    """
    app = FastAPI(title=context.name, lifespan=lifespan)
    app.add_exception_handler(ServerError, _pass_on)
    status: Json = {"status": "ok", "name": context.name, "about": dict(about or {})}

    @app.get("/livez")
    async def livez() -> Json:
        """Answers as soon as the server takes requests."""
        return {"status": "ok"}

    @app.get("/")
    async def root() -> Json:
        """Says who this is."""
        return status

    return app


async def unprocessable(request: Request, error: Exception) -> Response:
    """Exception handler for errors that say what is wrong with a request: status 422, in the error's words."""
    return JsonBytes({"detail": str(error)}, status_code=422)


async def _pass_on(request: Request, error: Exception) -> Response:
    status = getattr(error, "status", None)
    code = status if status is not None and 400 <= status < 500 else 502
    return JsonBytes({"error": {"message": str(error), "type": "server_error", "code": code}}, status_code=code)


def serve(settings_type: type[SettingsT], create_app: Callable[[SettingsT, ServerContext], FastAPI]) -> None:
    """Runs a server as a process: settings from the environment, as NeMo Gym hands them over.

    A fault that the user can mend is printed without a traceback, with exit code 2.
    """
    try:
        host, port, app = _from_environment(settings_type, create_app, os.environ)
    except (UserError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - a process that cannot start has nowhere else to say why
        sys.exit(2)
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False, timeout_keep_alive=75)


def _from_environment(
    settings_type: type[SettingsT],
    create_app: Callable[[SettingsT, ServerContext], FastAPI],
    environ: Mapping[str, str],
) -> tuple[str, int, FastAPI]:
    try:
        config, name = yaml.safe_load(environ[CONFIG_VARIABLE]), environ[NAME_VARIABLE]
    except KeyError as error:
        raise ConfigError(
            f"the environment variable {error.args[0]} is not set",
            mend="a server is started by a host, such as `gym env start`",
        ) from None
    block = _block(config, name)
    settings = parse_settings(settings_type, block, where=name)
    if settings.port is None:
        raise ConfigError("the server has no port", where=f"{name}.port")
    context = ServerContext(name, HttpCalls(addresses(config)))
    return settings.host or "127.0.0.1", settings.port, create_app(settings, context)


def _block(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    instance = config.get(name)
    for type_ in HTTP_TYPES:
        folders = instance.get(type_) if isinstance(instance, Mapping) else None
        if isinstance(folders, Mapping) and folders:
            block = next(iter(folders.values()))
            return block if isinstance(block, Mapping) else {}
    raise ConfigError(f"the configuration has no server of the name {name}", where=NAME_VARIABLE)


def addresses(config: Mapping[str, Any]) -> dict[str, str]:
    """Base URL of every server of a configuration that has a host and a port."""
    found = {}
    for name, instance in config.items():
        for type_ in HTTP_TYPES:
            folders = instance.get(type_) if isinstance(instance, Mapping) else None
            for block in folders.values() if isinstance(folders, Mapping) else ():
                if isinstance(block, Mapping) and block.get("port"):
                    host = str(block.get("host") or "127.0.0.1")
                    found[str(name)] = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{block['port']}"
    return found
