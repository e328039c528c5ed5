# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""From the words of a command to a configuration."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_host.config.components import Components
from gym_host.config.config_files import INCLUDES
from gym_host.config.configuration import Config, Instance, entries, load_config
from gym_host.config.containers import leaves
from gym_host.config.overrides import shown_override
from gym_host.config.references import needed_by
from gym_host.errors import ConfigError
from gym_host.wording import together

POLICY_MODEL = "policy_model"
DEFAULT_MODEL_TYPE = "inference_provider"


@dataclass(frozen=True, slots=True)
class Setup:
    """A configuration and where its components lie."""

    components: Components
    config: Config


def verifier_of(agent: Instance) -> str | None:
    """Name of the resources server that an agent refers to."""
    reference = agent.settings.get("resources_server")
    return reference.get("name") if isinstance(reference, dict) else None


_WORDS = ("benchmark", "environment", "resources_server", "config", "search_dir")


def words_of_configuration(args: argparse.Namespace) -> dict[str, list[str]]:
    """The words of a command that choose its configuration; of overrides that hold a secret only the key."""
    words = {word: list(getattr(args, word)) for word in _WORDS if getattr(args, word)}
    return words | ({"overrides": [shown_override(text) for text in args.overrides]} if args.overrides else {})


def chooses_configuration(args: argparse.Namespace) -> bool:
    """Whether the words of a command name a configuration: more than where to look for one, and what to change in it."""
    return any(getattr(args, word) for word in _WORDS if word != "search_dir")


def find_components(args: argparse.Namespace) -> Components:
    return Components.discover(args.search_dir, cwd=Path.cwd(), environ=os.environ)


def load_setup(
    args: argparse.Namespace, *, resolve: bool = True, only: str | None = None, alone: bool = False, checked: bool = True
) -> Setup:
    """Reads the configuration that a command names.

    Args:
        args: The command's words.
        resolve: False leaves interpolations as they are, so that no key has to be set.
        only: Keep this server and what it refers to; what all others need does not have to be set.
        alone: With `only`, keep that server without what it refers to.
        checked: False leaves it to the caller to say what is wrong with the keys.

    Raises:
        ConfigError: A name, file, key or reference is wrong or missing.
    """
    components = find_components(args)
    paths = _paths(args, components)
    if not paths and not (Path.cwd() / "env.yaml").is_file():
        raise ConfigError("nothing says what to run", mend="name a benchmark (--benchmark vera_mh) or a configuration (--config)")
    flags = _flags(args)
    if _lacks_policy(args, components, paths, flags):
        paths.append(components.model_type(DEFAULT_MODEL_TYPE))
    drop: frozenset[str] = frozenset()
    if only is not None:
        unresolved = _load(components, paths, args, flags, resolve=False)
        keep = frozenset({only}) if alone else needed_by(unresolved, only)
        drop = frozenset(name for name, *_ in entries(unresolved.values)) - keep
    config = _load(components, paths, args, flags, resolve=resolve, drop=drop)
    if checked and config.faults:
        raise together(config.faults, "keys are wrong")
    return Setup(components, config)


def _paths(args: argparse.Namespace, components: Components) -> list[Path]:
    paths = [components.benchmark(name) for name in args.benchmark]
    paths += [components.environment(name) for name in args.environment]
    paths += [components.resources_server(name) for name in args.resources_server]
    paths += [_config_file(components, path) for path in args.config]
    if args.model_type:
        paths.append(components.model_type(args.model_type))
    return paths


def _config_file(components: Components, path: str) -> Path:
    named = Path(path).expanduser()
    return named.resolve() if named.is_file() else components.find(named)


def _flags(args: argparse.Namespace) -> Mapping[str, Any]:
    flags = {"policy_model_name": args.model, "policy_base_url": args.model_url, "policy_api_key": args.model_api_key}
    return {key: value for key, value in flags.items() if value is not None}


def _lacks_policy(args: argparse.Namespace, components: Components, paths: list[Path], flags: Mapping[str, Any]) -> bool:
    """True if a server wants the chatbot under evaluation, and nobody has said what serves it."""
    if args.model_type:
        return False
    # Overrides may be meant for the very server that is to be added, so only those that name further files are looked at.
    included = [word for word in args.overrides if word.lstrip("+").startswith(INCLUDES)]
    bare = argparse.Namespace(**{**vars(args), "overrides": included})
    values = _load(components, paths, bare, flags, resolve=False).values
    return POLICY_MODEL not in values and any(leaf == POLICY_MODEL for _, leaf in leaves(values))


def _load(
    components: Components,
    paths: list[Path],
    args: argparse.Namespace,
    flags: Mapping[str, Any],
    *,
    resolve: bool,
    drop: frozenset[str] = frozenset(),
) -> Config:
    cwd, environ = Path.cwd(), os.environ
    return load_config(components, paths, args.overrides, cwd=cwd, environ=environ, resolve=resolve, flags=flags, drop=drop)
