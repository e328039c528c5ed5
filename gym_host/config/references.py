# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""References of one server to another, `{type: responses_api_models, name: policy_model}`: does each name a server?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gym_host.config.components import REFERENCE_TYPES, Components
from gym_host.config.configuration import Config, entries
from gym_host.config.containers import Keys, children, dotted
from gym_host.errors import ConfigError
from gym_host.wording import nearest, suggestion


def check_references(config: Config, components: Components | None = None) -> list[ConfigError]:
    """The references that lead nowhere.

    Args:
        config: The configuration, resolved or not.
        components: If given, a server that our host runs must not refer to one that it leaves out.

    Returns:
        One error for each wrong reference, in the order of the files.

    Raises:
        ConfigError: An entry has the type of a server, but not the shape of one.
    """
    types = {name: kind for name, kind, _, _ in entries(config.values)}
    skipped = {instance.name: instance.folder for instance in config.skipped(components)} if components else {}
    faults = []
    for name, kind, folder, settings in entries(config.values):
        for path, reference in _references(settings, (name, kind, folder)):
            fault = _fault(dotted(path), str(reference["type"]), str(reference["name"]), types)
            if fault is None and name not in skipped and reference["name"] in skipped:
                missing = f"`{reference['name']}` runs `{skipped[reference['name']]}`, which is not among our components"
                fault = ConfigError(missing, where=f"{dotted(path)}.name", mend="give its root with --search-dir")
            if fault is not None:
                faults.append(fault)
    return faults


def needed_only_by(config: Config, server: str | None, *, beneath: str) -> frozenset[str]:
    """A server and what it refers to, without what another server that refers to it needs besides it.

    Args:
        config: The configuration.
        server: The server, such as a verifier; None if there is none.
        beneath: The other server, such as an agent.
    """
    if server is None:
        return frozenset()
    return needed_by(config, server) - needed_by(config, beneath, without=server)


def needed_by(config: Config, server: str, *, without: str | None = None) -> frozenset[str]:
    """A server, the servers that it refers to, those that they refer to, and so on, as if one of them were not there."""
    settings_of = {name: settings for name, _, _, settings in entries(config.values) if name != without}
    found: set[str] = set()
    waiting = [server]
    while waiting:
        name = waiting.pop()
        if name in settings_of and name not in found:
            found.add(name)
            waiting += [str(reference["name"]) for _, reference in _references(settings_of[name], ())]
    return frozenset(found)


def _references(node: Any, path: Keys) -> Iterator[tuple[Keys, dict[str, Any]]]:
    if isinstance(node, dict) and _is_reference(node):
        yield path, node
        return
    for key, value in children(node):
        yield from _references(value, (*path, key))


def _is_reference(node: dict[str, Any]) -> bool:
    """Whether a mapping is meant as a reference, with the type spelled right or nearly right."""
    kind, name = node.get("type"), node.get("name")
    if not isinstance(kind, str) or not isinstance(name, str) or "${" in kind + name:
        return False
    return kind in REFERENCE_TYPES or (set(node) == {"type", "name"} and nearest(kind, REFERENCE_TYPES) is not None)


def _fault(place: str, kind: str, name: str, types: dict[str, str]) -> ConfigError | None:
    if kind not in REFERENCE_TYPES:
        return ConfigError(f"there is no type of server `{kind}`", where=f"{place}.type", mend=suggestion(kind, REFERENCE_TYPES))
    if types.get(name) == kind:
        return None
    if name in types:
        return ConfigError(f"`{name}` is one of {types[name]}, not of {kind}", where=place, mend=f"write type: {types[name]}")
    mend = suggestion(name, [known for known, its_type in types.items() if its_type == kind])
    if name == "policy_model":
        mend = "give --model-type, e.g. --model-type inference_provider"
    return ConfigError(f"there is no server `{name}` among the {kind}", where=f"{place}.name", mend=mend)
