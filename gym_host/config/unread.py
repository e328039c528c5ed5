# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Top-level keys that nothing reads: a misspelled one would change nothing, and nobody would know.

A key is read if it is a server, if this host or NeMo Gym's knows it, or if another value refers to it as `${key}`. A key that
starts with `_` or `x-` is its author's own, such as one that only holds YAML anchors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from gym_host.config.components import REFERENCE_TYPES
from gym_host.config.containers import leaves
from gym_host.config.interpolation import FLAGS
from gym_host.config.nemo_gym_keys import NEMO_GYM_KEYS
from gym_host.config.request_params import PARAMETERS, PARAMS
from gym_host.errors import ConfigError
from gym_host.wording import nearest

READ_HERE = frozenset({PARAMS, *FLAGS})

_FLAG_INSTEAD = {
    "agent_name": "--agent",
    "disable_aggregation": "--disable-aggregation",
    "input_jsonl_fpath": "--input",
    "interleave_repeats": "--interleave-repeats",
    "limit": "--limit",
    "num_repeats": "--num-repeats",
    "num_samples_in_parallel": "--concurrency",
    "output_jsonl_fpath": "--output",
    "overwrite": "--overwrite",
    "resume_from_cache": "--resume",
    "split": "--split",
}
"""Keys by which NeMo Gym's host is told what to run, and the flag that tells it here."""

_ALIKE = 0.85
"""How much a key of `env.yaml` must be like a known one to be spoken of: that file holds what other configurations read, too."""

_OWN = ("_", "x-")
_WORD = re.compile(r"[\w-]+")


def unread_faults(values: Mapping[str, Any], places: Mapping[str, str]) -> list[ConfigError]:
    """The keys of configuration files and overrides that nothing reads.

    Args:
        values: The whole configuration, with inherited blocks, unresolved.
        places: Which keys to look at, and the file or flag that each comes from.
    """
    return [
        ConfigError(f"nothing reads the key `{name}`", where=places[name], mend=_mend(name, values))
        for name in unread(values)
        if name in places
    ]


def unread_warnings(values: Mapping[str, Any], local: Collection[Any], path: Path) -> list[ConfigError]:
    """What should be known of keys that are not refused: those of `env.yaml` that look misspelled, and NeMo Gym's own words.

    Args:
        values: As for `unread_faults`.
        local: The keys of `env.yaml`.
        path: Where that lies.
    """
    alike = {name: nearest(name, READ_HERE | PARAMETERS, least=_ALIKE) for name in unread(values) if name in local}
    found = [
        ConfigError(f"nothing reads the key `{name}`", where=str(path), mend=_mend(name, values))
        for name, close in alike.items()
        if close
    ]
    return found + [
        ConfigError(f"`{name}` tells NeMo Gym's host what to run, and is not read here", mend=f"give {flag}")
        for name, flag in _FLAG_INSTEAD.items()
        if name in values and name not in _referred(values)
    ]


def unread(values: Mapping[str, Any]) -> Iterator[str]:
    """The top-level keys that nothing reads."""
    referred = _referred(values)
    for name, value in values.items():
        known = name in READ_HERE or name in NEMO_GYM_KEYS or name in referred
        if not (known or str(name).startswith(_OWN) or value is None or _is_server(value)):
            yield str(name)


def meant(name: str, values: Mapping[str, Any]) -> str | None:
    """The key that was probably meant by one that nothing reads."""
    parameters = PARAMETERS - {"input", "model"}  # Of the model other keys tell.
    if name in parameters:
        return f"{PARAMS}.{name}"
    close = nearest(name, {*READ_HERE, *parameters, *map(str, values)} - {name})
    return f"{PARAMS}.{close}" if close in parameters else close


def _mend(name: str, values: Mapping[str, Any]) -> str:
    close = meant(name, values)
    return f"did you mean `{close}`?" if close else f"remove it; a key of your own is for values that refer to it, as ${{{name}}}"


def _referred(values: Mapping[str, Any]) -> set[str]:
    """Every word of a value with an interpolation in it: what it refers to is among them."""
    texts = (leaf for _, leaf in leaves(dict(values)) if isinstance(leaf, str) and "${" in leaf)
    return {word for text in texts for word in _WORD.findall(text)}


def _is_server(value: Any) -> bool:
    """Whether a block is meant as a server, be it of a type that this host does not have."""
    if not isinstance(value, dict):
        return False
    if any(kind in value for kind in REFERENCE_TYPES):
        return True
    folders = [folder for block in value.values() if isinstance(block, dict) for folder in block.values()]
    return any(isinstance(settings, dict) and "entrypoint" in settings for settings in folders)
