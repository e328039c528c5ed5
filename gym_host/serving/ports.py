# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where servers listen: the host and port of each instance, and the configuration that tells them all of it."""

from __future__ import annotations

import copy
import random
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

from gym_host.config.configuration import Instance
from gym_host.config.containers import children
from gym_host.config.interpolation import MISSING, literal
from gym_host.errors import ConfigError, UserError
from gym_host.serving.process import LOOPBACK, PortInUse, base_url, listening_socket
from gym_host.wording import together

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
    faults = port_faults(instances, host=host)
    if faults:
        raise together(faults, "ports are wrong")
    placements: dict[str, Placement] = {}
    listening: list[socket.socket] = []
    try:
        # Those with a port of their own come first, so that none of their ports is given away.
        for instance in sorted(instances, key=lambda instance: instance.settings.get("port") is None):
            chosen = _host_of(instance, host)
            port = instance.settings.get("port")
            listener = _free(instance, chosen) if port is None else _own(instance, chosen, int(port))
            listening.append(listener)
            placements[instance.name] = Placement(instance, chosen, listener.getsockname()[1])
    finally:
        for listener in listening:
            listener.close()
    return [placements[instance.name] for instance in instances]


def port_faults(instances: Iterable[Instance], *, host: str = LOOPBACK) -> list[ConfigError]:
    """What is wrong with the ports that instances have of their own: no numbers, or wanted twice."""
    faults, takers = [], dict[tuple[str, int], str]()
    for instance in instances:
        port, where = instance.settings.get("port"), f"{instance.place}.port"
        if port is None or port == MISSING:
            continue
        if isinstance(port, bool) or not str(port).isdecimal() or not 0 < int(str(port)) < 2**16:
            faults.append(ConfigError(f"{port!r} is no port", where=where, mend="write a number from 1 to 65535"))
            continue
        taker = takers.setdefault((_host_of(instance, host), int(port)), instance.name)
        if taker != instance.name:
            mend = "give one of them another port, or none"
            faults.append(ConfigError(f"`{taker}` and `{instance.name}` both want port {port}", where=where, mend=mend))
    return faults


def _host_of(instance: Instance, host: str) -> str:
    return str(instance.settings.get("host") or host)


def _own(instance: Instance, host: str, port: int) -> socket.socket:
    try:
        return listening_socket(host, port, where=f"{instance.place}.port")
    except UserError as error:
        raise UserError(f"`{instance.name}`: {error.what}", where=error.where, mend=error.mend) from None


def _free(instance: Instance, host: str) -> socket.socket:
    for port in random.sample(_FREE_PORTS, _TRIES):
        with suppress(PortInUse):
            return listening_socket(host, port, where=f"{instance.place}.host")
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
