# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Interpolations: give every `${...}` its value, or say in one message what is missing and what sets it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationKeyError, InterpolationToMissingValueError, OmegaConfBaseException
from omegaconf.resolvers.oc import env as env_of_the_process

from gym_host.config.containers import Keys, dotted, leaves
from gym_host.errors import ConfigError
from gym_host.wording import nearest, together

FLAGS = {"policy_base_url": "--model-url", "policy_api_key": "--model-api-key", "policy_model_name": "--model"}
"""The flag that sets a key, where there is one."""

MISSING = "???"

_ENVIRON: ContextVar[Mapping[str, str] | None] = ContextVar("environ", default=None)
_UNSET = re.compile("\0unset ([^\0]*)\0")
_NO_DEFAULT = object()


def resolved(tree: DictConfig, environ: Mapping[str, str], *, below: Keys = ()) -> dict[str, Any]:
    """The configuration, or one block of it, in plain containers with all interpolations resolved.

    Unlike OmegaConf, which evaluates a default even when it is not needed, this asks for `B` in `${oc.env:A,${oc.env:B}}` only
    if `A` is not set.

    Args:
        tree: The merged configuration.
        environ: What `${oc.env:...}` reads.
        below: Keys of the block; what stands elsewhere need not be set.

    Raises:
        ConfigError: Something has no value: a key, an environment variable, a `???`.
    """
    token = _ENVIRON.set(environ)
    try:
        block: Any = OmegaConf.select(tree, "".join(f"[{part}]" for part in below)) if below else tree
        values: Any = OmegaConf.to_container(block, resolve=True)
        faults = list(_faults(tree, below)) if any(_is_open(leaf) for _, leaf in leaves(values)) else []
    except OmegaConfBaseException as error:
        faults = list(_faults(tree, below)) or [ConfigError(_first_line(error), where=error.full_key)]
    finally:
        _ENVIRON.reset(token)
    if faults:
        raise together(_distinct(faults), "settings have no value")
    return values  # type: ignore[no-any-return]


def resolved_where_possible(tree: DictConfig, environ: Mapping[str, str]) -> tuple[dict[str, Any], list[ConfigError]]:
    """The configuration as far as it can be resolved, and all that has no value.

    Args:
        tree: The merged configuration.
        environ: What `${oc.env:...}` reads.

    Returns:
        Plain containers, in which `???` stands for each value that cannot be had, and a fault for each thing that is missing.
    """
    token = _ENVIRON.set(environ)
    try:
        plain: Any = OmegaConf.to_container(tree)
        open_leaves = [path for path, raw in leaves(plain) if isinstance(raw, str) and (raw == MISSING or "${" in raw)]
        faults = {path: fault for path in open_leaves if (fault := _fault(tree, path)) is not None}
        for *path, last in faults:
            node = plain
            for part in path:
                node = node[part]
            node[last] = MISSING
        values: Any = OmegaConf.to_container(OmegaConf.create(plain), resolve=True)
    finally:
        _ENVIRON.reset(token)
    return values, _distinct(faults.values())


def literal(value: Any) -> Any:
    """A value that is meant as it stands: a text is written so that nothing in it is an interpolation."""
    if not isinstance(value, str):
        return value
    return re.sub(r"(\\*)\$\{", lambda match: match[1] * 2 + r"\${", value)


def _env(name: str, default: Any = _NO_DEFAULT) -> Any:
    """`${oc.env:NAME,default}`: as OmegaConf's own, but from the environment that was handed over.

    A variable that is not set and has no default does not raise; it leaves a mark with its name, so that an outer `oc.env` may
    still have a value, and so that all names are known that would have done.
    """
    environ = _ENVIRON.get()
    if environ is None:
        return env_of_the_process(name) if default is _NO_DEFAULT else env_of_the_process(name, default)
    if name in environ:
        return environ[name]
    if default is None:
        return None
    if default is _NO_DEFAULT or default == MISSING:
        return f"\0unset {name}\0"
    return _UNSET.sub(lambda match: f"\0unset {match[1]} {name}\0", str(default))


OmegaConf.register_new_resolver("oc.env", _env, replace=True)


def _distinct(faults: Iterable[ConfigError]) -> list[ConfigError]:
    """One fault for each thing that is missing, wherever it is needed."""
    distinct: dict[str, ConfigError] = {}
    for fault in faults:
        distinct.setdefault(f"{fault.what} {fault.mend}", fault)
    return list(distinct.values())


def _faults(tree: DictConfig, below: Keys = ()) -> Iterator[ConfigError]:
    for path, raw in leaves(OmegaConf.to_container(tree)):
        if path[: len(below)] == tuple(below) and isinstance(raw, str) and (raw == MISSING or "${" in raw):
            fault = _fault(tree, path)
            if fault is not None:
                yield fault


def _fault(tree: DictConfig, path: Keys) -> ConfigError | None:
    key = dotted(path)
    try:
        value = OmegaConf.select(tree, "".join(f"[{part}]" for part in path), default=MISSING)
    except (InterpolationKeyError, InterpolationToMissingValueError) as error:
        name = re.search(r"key '(.+)' not found|value: (.+)", _first_line(error))
        return _unset_key((name[1] or name[2]) if name else key, key, tree)
    except OmegaConfBaseException as error:
        return ConfigError(f"`{key}` cannot be resolved: {_first_line(error)}", where=key)
    if value == MISSING:
        return _unset_key(key, key, tree)
    unset = _UNSET.search(value) if isinstance(value, str) else None
    if unset is None:
        return None
    names = unset[1].split()
    what = f"neither `{'` nor `'.join(names)}` is set" if len(names) > 1 else f"`{names[0]}` is not set"
    mend = f"set the environment variable {', or '.join(names)}"
    return ConfigError(f"{what} in the environment", where=f"needed by {key}", mend=mend)


def _unset_key(name: str, needed_by: str, tree: DictConfig) -> ConfigError:
    flag = f"{FLAGS[name]}, or " if name in FLAGS else ""
    close = nearest(name, [str(key) for key in tree if key != name]) if name not in FLAGS and name != needed_by else None
    meant = f"; or did you mean `{close}`?" if close else ""
    return ConfigError(
        f"`{name}` is not set",
        where=f"needed by {needed_by}" if needed_by != name else None,
        mend=f"give {flag}{name}=..., or put it into env.yaml{meant}",
    )


def _is_open(leaf: Any) -> bool:
    return isinstance(leaf, str) and (leaf == MISSING or _UNSET.search(leaf) is not None)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
