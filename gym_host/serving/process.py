# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A server as a process of its own: `python app.py` with two environment variables, as NeMo Gym and `gym env start` do it."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import uvicorn
import yaml
from fastapi import FastAPI
from omegaconf import OmegaConf

from gym_host.config.components import SERVER_TYPES
from gym_host.config.interpolation import resolved
from gym_host.config.settings import parse_settings
from gym_host.errors import ConfigError, UserError
from gym_host.serving.admission import MIB, TOKEN_VARIABLE, Admission, server_token
from gym_host.serving.calls import HttpCalls
from gym_host.serving.garbage import rare_collections
from gym_host.serving.hangup import CancelledOnHangup
from gym_host.serving.limits import allow_many_files
from gym_host.serving.server import ServerContext, SettingsT, build_app

CONFIG_VARIABLE = "NEMO_GYM_CONFIG_DICT"
NAME_VARIABLE = "NEMO_GYM_CONFIG_PATH"
LOOPBACK = "127.0.0.1"

KEEP_ALIVE_SECONDS = 75
"""How long an idle connection stays open: far longer than `HttpCalls` keeps one, so that it is never closed as it is used."""

_FINISH_SECONDS = 2
"""How long a server that stops waits for the requests that it is working on."""

_LAST_PORT = 65_535
_EVERYWHERE = {"0.0.0.0": LOOPBACK, "::": "::1"}
_WHY = {
    errno.EACCES: ("the system does not allow it", "choose a port above 1023"),
    errno.EADDRNOTAVAIL: ("this machine has no such address", "choose another host"),
}


class PortInUse(UserError):
    """Another program listens where a server wants to listen."""

    def __init__(self, host: str, port: int, *, where: str) -> None:
        what = f"nothing can listen on port {port} of {host}: another program listens there"
        super().__init__(what, where=where, mend="free the port, or choose another")


class _Served(NamedTuple):
    """A server that is about to listen."""

    name: str
    host: str
    port: int
    app: FastAPI
    token: str | None
    largest_body: int


def serve(settings_type: type[SettingsT], create_app: Callable[[SettingsT, ServerContext], FastAPI]) -> None:
    """Runs a server until it is told to stop: settings from the environment, as NeMo Gym hands them over.

    A fault that the user can mend is printed without a traceback, with exit code 2.
    """
    try:
        served = _from_environment(settings_type, create_app, os.environ)
        listener = listening_socket(served.host, served.port, where=f"{served.name}.port")
    except (UserError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201 - a process that cannot start has nowhere else to say why
        sys.exit(2)
    if not is_loopback(served.host):
        print(open_to_others([served.host], served.token), file=sys.stderr, flush=True)  # noqa: T201 - as above
    allow_many_files()
    config = uvicorn.Config(
        Admission(CancelledOnHangup(served.app), token=served.token, largest_body=served.largest_body),
        lifespan="on",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_FINISH_SECONDS,
    )
    with rare_collections(), suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listener])


def listening_socket(host: str, port: int, *, where: str) -> socket.socket:
    """A socket that listens.

    Args:
        host: A name or address of this machine.
        port: The port; 0 for any.
        where: The key or flag that says so.

    Raises:
        PortInUse: Another program listens there.
        UserError: It cannot listen there for another reason.
    """
    if not 0 <= port <= _LAST_PORT:
        raise UserError(f"{port} is no port", where=where, mend=f"write a number from 1 to {_LAST_PORT}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
        # Connections inherit it; asyncio sets it on none that a listener of this kind accepts. Without it each answer, which is
        # written in two parts, waits 40 ms for the caller's acknowledgement of the first.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port, where=where) from None
        why, mend = _WHY.get(error.errno or 0, (error.strerror or str(error), "choose another host or port"))
        raise UserError(f"nothing can listen on port {port} of {host}: {why}", where=where, mend=mend) from None


def _from_environment(
    settings_type: type[SettingsT],
    create_app: Callable[[SettingsT, ServerContext], FastAPI],
    environ: Mapping[str, str],
) -> _Served:
    try:
        config, name = yaml.safe_load(environ[CONFIG_VARIABLE]), environ[NAME_VARIABLE]
    except KeyError as error:
        raise ConfigError(
            f"the environment variable {error.args[0]} is not set",
            mend="a server is started by a host, such as `gym env start`",
        ) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{CONFIG_VARIABLE} is no YAML: {getattr(error, 'problem', None) or 'it cannot be read'}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"{CONFIG_VARIABLE} is no mapping of names to servers")
    place = _place(config, name)
    # NeMo Gym hands interpolations over as they are written, so they get their values here.
    settings = parse_settings(settings_type, resolved(OmegaConf.create(config), environ, below=place), where=".".join(place))
    if settings.port is None:
        raise ConfigError("the server has no port", where=f"{name}.port")
    token = server_token(environ)
    calls = HttpCalls(addresses(config), token=token)
    app = build_app(create_app, settings, ServerContext(name, calls))
    _close_at_end(app, calls)
    return _Served(name, settings.host or LOOPBACK, settings.port, app, token, settings.max_body_mib * MIB)


def _close_at_end(app: FastAPI, calls: HttpCalls) -> None:
    """Has an app close its connections to other servers when it stops."""
    own_lifespan: Any = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with own_lifespan(app) as state:
            try:
                yield state
            finally:
                await calls.aclose()

    app.router.lifespan_context = lifespan


def _place(config: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    """Where the settings of a server stand in the configuration."""
    instance = config.get(name)
    for type_ in SERVER_TYPES:
        folders = instance.get(type_) if isinstance(instance, Mapping) else None
        if isinstance(folders, Mapping) and folders:
            return name, type_, str(next(iter(folders)))
    raise ConfigError(f"the configuration has no server of the name {name}", where=NAME_VARIABLE)


def addresses(config: Mapping[str, Any]) -> dict[str, str]:
    """Base URL of every server of a configuration that has a host and a port."""
    found = {}
    for name, instance in config.items():
        for type_ in SERVER_TYPES:
            folders = instance.get(type_) if isinstance(instance, Mapping) else None
            for block in folders.values() if isinstance(folders, Mapping) else ():
                if isinstance(block, Mapping) and block.get("port"):
                    found[str(name)] = base_url(str(block.get("host") or LOOPBACK), block["port"])
    return found


def is_everywhere(host: str) -> bool:
    """Whether what listens there is reached at every address of the machine."""
    return host in _EVERYWHERE


def open_to_others(hosts: Iterable[str], token: str | None) -> str:
    """What must be said of servers that other machines reach."""
    listening = f"WARNING: listening on {', '.join(hosts)}. "
    if token:
        return (
            f"{listening}Whoever reaches this machine and has the token ({TOKEN_VARIABLE})\n"
            "         can use these servers, with the models and keys behind. It is not encrypted: do so in a trusted network."
        )
    return (
        f"{listening}Whoever reaches this machine can use these servers, with the models\n"
        f"         and keys behind them: they ask for no token. Set {TOKEN_VARIABLE}, and do so in a trusted network only."
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def base_url(host: str, port: int) -> str:
    """Where this machine reaches what listens on a host and port."""
    host = _EVERYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
