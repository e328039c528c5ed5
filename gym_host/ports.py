# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where servers listen: the host and port of each instance, and the configuration that tells them all of it."""

from __future__ import annotations

import copy
import ipaddress
import random
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

from gym_host.config import Instance
from gym_host.containers import children
from gym_host.errors import ConfigError, UserError
from gym_host.interpolation import literal
from gym_host.process import LOOPBACK, base_url, listening_socket

# Below those that systems give to outgoing connections, so that none of these takes a port before its server listens.
_FREE_PORTS = range(20_000, 32_000)
_TRIES = 50
_ANY = 0


@dataclass(frozen=True, slots=True)
class Placement:
    """A server instance and where it listens."""

    instance: Instance
    host: str
    port: int

    @property
    def name(self) -> str:
        return self.instance.name

    @property
    def url(self) -> str:
        """Where this machine reaches it."""
        return base_url(self.host, self.port)


def place(instances: Iterable[Instance], *, host: str = LOOPBACK) -> list[Placement]:
    """Gives every instance a host and a port: its own where its settings say so, else a free port.

    Args:
        instances: The servers.
        host: Where those listen that do not say where.

    Raises:
        UserError: A port is in use or wanted twice, or a host is not of this machine; the message names the instance.
    """
    instances = list(instances)
    placements: dict[str, Placement] = {}
    listening: list[socket.socket] = []
    try:
        # Those with a port of their own come first, so that none of their ports is given away.
        for instance in sorted(instances, key=lambda instance: instance.settings.get("port") is None):
            chosen = str(instance.settings.get("host") or host)
            wanted = _wanted_port(instance)
            _refuse_twice(instance, chosen, wanted, placements.values())
            listener = _free(instance, chosen) if wanted is None else _own(instance, chosen, wanted)
            listening.append(listener)
            placements[instance.name] = Placement(instance, chosen, listener.getsockname()[1])
    finally:
        for listener in listening:
            listener.close()
    return [placements[instance.name] for instance in instances]


def _wanted_port(instance: Instance) -> int | None:
    port = instance.settings.get("port")
    if port is None:
        return None
    if isinstance(port, bool) or not str(port).isdecimal() or not 0 < int(str(port)) < 2**16:
        raise ConfigError(f"{port!r} is no port", where=f"{instance.place}.port", mend="write a number from 1 to 65535")
    return int(str(port))


def _refuse_twice(instance: Instance, host: str, port: int | None, placements: Iterable[Placement]) -> None:
    for other in placements:
        if other.port == port and other.host == host:
            raise ConfigError(
                f"`{instance.name}` and `{other.name}` both want port {port}",
                where=f"{instance.place}.port",
                mend="give one of them another port, or none",
            )


def _own(instance: Instance, host: str, port: int) -> socket.socket:
    try:
        return listening_socket(host, port, where=f"{instance.place}.port")
    except UserError as error:
        raise UserError(f"`{instance.name}`: {error.what}", where=error.where, mend=error.mend) from None


def _free(instance: Instance, host: str) -> socket.socket:
    for port in random.sample(_FREE_PORTS, _TRIES):
        with suppress(UserError):
            return listening_socket(host, port, where=instance.place)
    return _own(instance, host, _ANY)


def handed_over(values: Mapping[str, Any], placements: Iterable[Placement]) -> str:
    """The configuration as every server gets it, in YAML: with the host and port of each. It holds the keys.

    Args:
        values: A resolved configuration.
        placements: Where the servers listen.
    """
    whole = copy.deepcopy(dict(values))
    for placed in placements:
        block = whole[placed.name][placed.instance.type][placed.instance.folder]
        block |= {"host": placed.host, "port": placed.port}
    # A server resolves what it gets, and what is resolved already must come through as it is.
    return yaml.safe_dump(_literals(whole), sort_keys=False, allow_unicode=True)


def _literals(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _literals(value) for key, value in children(node)}
    return [_literals(item) for item in node] if isinstance(node, list) else literal(node)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
