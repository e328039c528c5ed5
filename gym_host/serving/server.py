# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What every server is made of.

A server's `app.py` holds `Settings` (a `ServerSettings`), `create_app(settings, context)`, and under `__main__` a call of
`gym_host.serving.process.serve`. Our host builds the app in its own process, or runs `python app.py` with two environment
variables as NeMo Gym does. The app is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response

from gym_host.config.settings import ServerSettings
from gym_host.errors import ConfigError, GymError, ServerError, UserError
from gym_host.serving.calls import Json, ServerCalls
from gym_host.serving.json_app import JsonApp, JsonBytes, described_body, row_of, unprocessable

__all__ = [
    "JsonApp",
    "JsonBytes",
    "ServerContext",
    "SettingsT",
    "base_app",
    "build_app",
    "described_body",
    "row_of",
    "unprocessable",
]

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


def base_app(
    context: ServerContext,
    *,
    about: Mapping[str, Any] | None = None,
    lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None,
) -> JsonApp:
    """An app with `/livez` and `/`, in which an error of another server is passed on in that server's words.

    Args:
        context: The server's context.
        about: What a result must say of this server (a pack's hash, a rubric's version); shown at `/` and kept in `x_run.json`.
        lifespan: Opens and closes what the server holds.
    """
    app = JsonApp(title=context.name, lifespan=lifespan)
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


async def _pass_on(request: Request, error: Exception) -> Response:
    status = getattr(error, "status", None)
    code = status if status is not None and 400 <= status < 500 else 502
    return JsonBytes({"error": {"message": str(error), "type": "server_error", "code": code}}, status_code=code)


def build_app(create_app: Callable[[SettingsT, ServerContext], FastAPI], settings: SettingsT, context: ServerContext) -> FastAPI:
    """Builds a server's app.

    Raises:
        ConfigError: The server refuses to start.
    """
    try:
        return create_app(settings, context)
    except UserError as error:
        place = f"{context.name}.{error.where}" if error.where else context.name
        raise ConfigError(error.what, where=place, mend=error.mend) from error
    except GymError:
        raise
    except Exception as error:
        # What a server of any benchmark refuses for (a drifted pack, say) is the user's to mend, and said in the server's words.
        raise ConfigError(f"the server `{context.name}` does not start: {error}") from error
