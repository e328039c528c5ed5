# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""All servers of a configuration in this process: no ports, no child processes, calls stay in memory."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

from fastapi import FastAPI
from pydantic import BaseModel

from gym_host.config.configuration import Instance
from gym_host.config.modules import import_file
from gym_host.config.settings import ServerSettings, parse_settings
from gym_host.errors import ConfigError
from gym_host.serving.calls import InMemoryCalls, ServerCalls
from gym_host.serving.server import ServerContext, build_app


class Remark(Protocol):
    """What a program says of its settings."""

    @property
    def is_error(self) -> bool:
        """Whether it is a fault; if not, it is only worth knowing."""
        ...

    @property
    def what(self) -> str:
        """What there is to say, in a sentence."""
        ...

    @property
    def place(self) -> str:
        """The file that it is about, and where in it."""
        ...

    @property
    def mend(self) -> str:
        """What to do about it."""
        ...


@dataclass(frozen=True, slots=True)
class ServerProgram:
    """What a server's `app.py` holds.

    Attributes:
        settings_type: Its class `Settings`.
        create_app: Its function that makes the app.
        validate: Its function `validate(settings)`, if it has one: what is wrong beyond the settings themselves, found without
            starting anything, each in a sentence or as a remark.
        row_type: Its class `RunRequest`, if it is an agent that has one: what `/run` takes. Rows are held against it before
            anything is started.
    """

    settings_type: type[ServerSettings]
    create_app: Callable[[ServerSettings, ServerContext], FastAPI]
    validate: Callable[[ServerSettings], Sequence[str | Remark]] | None = None
    row_type: type[BaseModel] | None = None


def load_program(instance: Instance) -> ServerProgram:
    """Imports the `app.py` of a server.

    Raises:
        ConfigError: The file has no `Settings` and `create_app`, or cannot be imported.
    """
    if instance.app is None:
        raise ConfigError(f"there is no program for `{instance.name}`", where=instance.place)
    module = _module(instance.app, f"gym_components.{instance.type}.{instance.folder}")
    settings_type, create_app = getattr(module, "Settings", None), getattr(module, "create_app", None)
    if not (isinstance(settings_type, type) and issubclass(settings_type, ServerSettings) and callable(create_app)):
        raise ConfigError(f"{instance.app} has no `Settings` and `create_app`", where=instance.place)
    row_type = getattr(module, "RunRequest", None)
    if not (isinstance(row_type, type) and issubclass(row_type, BaseModel)):
        row_type = None
    return ServerProgram(settings_type, create_app, getattr(module, "validate", None), row_type)


def _module(path: Path, name: str) -> ModuleType:
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    return import_file(path, name)


def build_apps(instances: Iterable[Instance], servers: ServerCalls) -> dict[str, FastAPI]:
    """Builds the app of every instance, by name.

    Raises:
        ConfigError: Settings are wrong, or a server refuses to start.
    """
    parsed = [(instance, program := load_program(instance), settings_of(instance, program)) for instance in instances]
    return {
        instance.name: build_app(program.create_app, settings, ServerContext(instance.name, servers))
        for instance, program, settings in parsed
    }


def settings_of(instance: Instance, program: ServerProgram) -> ServerSettings:
    """The settings of an instance, as its program wants them.

    Raises:
        ConfigError: They are wrong.
    """
    return parse_settings(program.settings_type, instance.settings, where=instance.place)


@asynccontextmanager
async def running(instances: Iterable[Instance]) -> AsyncIterator[InMemoryCalls]:
    """Starts all servers; they stop when the context is left.

    Raises:
        ConfigError: As in `build_apps`.
    """
    calls = InMemoryCalls()
    apps: Mapping[str, FastAPI] = build_apps(instances, calls)
    async with AsyncExitStack() as stack:
        for app in apps.values():
            await stack.enter_async_context(app.router.lifespan_context(app))
        calls.apps.update(apps)
        started = stack.pop_all()
    try:
        yield calls
    finally:
        # As under a server on a port: an error of the run is not the servers' to see.
        await started.aclose()
