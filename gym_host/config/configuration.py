# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run: files, then what they inherit, then the values.

What wins, the last over the earlier ones: an included file, the file that includes it, a later file of the list, `env.yaml` in
the working directory, flags, overrides. `env.yaml` stands above the files (as under NVIDIA's host) since it holds what belongs
to this machine: keys, addresses.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gym_host.config.components import REFERENCE_TYPES, Components
from gym_host.config.config_files import INCLUDES, included, read_file, read_files
from gym_host.config.containers import clash, dotted
from gym_host.config.inheritance import expand_inheritance
from gym_host.config.interpolation import literal, resolved
from gym_host.config.overrides import Override, apply_override, check_overrides, parse_overrides
from gym_host.config.request_params import configured_param_faults
from gym_host.config.unread import unread_faults, unread_warnings
from gym_host.config.variables import variable_warnings
from gym_host.errors import ConfigError
from gym_host.wording import suggestion


@dataclass(frozen=True, slots=True)
class Instance:
    """One server instance: a top-level entry `name: {type: {folder: settings}}`.

    Args:
        name: Its name, by which other servers call it.
        type: One of `SERVER_TYPES`, or a type that our host does not have.
        folder: The folder with its program.
        settings: Its own settings.
        app: Its program, or None if we do not have it.
    """

    name: str
    type: str
    folder: str
    settings: dict[str, Any] = field(repr=False)
    app: Path | None

    @property
    def place(self) -> str:
        """Where its settings stand in the configuration."""
        return f"{self.name}.{self.type}.{self.folder}"


@dataclass(frozen=True, slots=True)
class Config:
    """A configuration in plain containers. Its values may be secret, so `repr` leaves them out; see `gym_host.config.masking`.

    Args:
        values: All keys, without `config_paths`.
        sources: The files that it came from, the one that wins last.
        faults: What is wrong with its keys, and with parameters of requests if it is resolved; it is not to be used then.
        warnings: What should be known of its keys, and of environment variables that are like those that it reads.
    """

    values: dict[str, Any] = field(repr=False)
    sources: tuple[Path, ...]
    faults: tuple[ConfigError, ...] = ()
    warnings: tuple[ConfigError, ...] = ()

    def instances(self, components: Components) -> tuple[Instance, ...]:
        """The server instances that our host can run, in the order of the files.

        Raises:
            ConfigError: An entry has the type of a server, but not the shape of one.
        """
        return tuple(instance for instance in self._instances(components) if instance.app is not None)

    def skipped(self, components: Components) -> tuple[Instance, ...]:
        """The server instances of a type or folder that we do not have, which our host leaves out.

        Raises:
            ConfigError: An entry has the type of a server, but not the shape of one.
        """
        return tuple(instance for instance in self._instances(components) if instance.app is None)

    def datasets(self, agent: str) -> list[dict[str, Any]]:
        """The `datasets` entries of an agent.

        Raises:
            ConfigError: There is no such agent, or its entries are not mappings.
        """
        agents = {name: settings for name, kind, _, settings in entries(self.values) if kind == "responses_api_agents"}
        if agent not in agents:
            raise ConfigError(f"there is no agent `{agent}` in the configuration", mend=suggestion(agent, agents))
        datasets = agents[agent].get("datasets") or []
        if not isinstance(datasets, list) or not all(isinstance(entry, dict) for entry in datasets):
            raise ConfigError("`datasets` must be a list of mappings", where=agent)
        return datasets

    def _instances(self, components: Components) -> Iterator[Instance]:
        for name, kind, folder, settings in entries(self.values):
            app = components.app(kind, folder, str(settings.get("entrypoint", "app.py")))
            yield Instance(name, kind, folder, settings, app)


def load_config(
    components: Components,
    paths: Iterable[str | Path],
    overrides: Iterable[str] = (),
    *,
    cwd: Path,
    environ: Mapping[str, str],
    resolve: bool = True,
    flags: Mapping[str, Any] | None = None,
    drop: Iterable[str] = (),
) -> Config:
    """Read and merge the files, apply flags and overrides, and resolve what refers to something else.

    Args:
        components: The roots that relative paths start from.
        paths: The files of the command line. If there are none, `config_paths` of `env.yaml` lists them.
        overrides: Words in Hydra's override grammar. `+config_paths=[...]` lists further files.
        cwd: The working directory, which may have an `env.yaml`.
        environ: The environment variables that `${oc.env:...}` reads.
        resolve: False leaves interpolations as they are written, so that nothing needs to be set.
        flags: Dotted keys and values that flags set, e.g. `policy_model_name`; each value is taken as it stands.
        drop: Top-level keys that are left out, so that what they need does not have to be set.

    Raises:
        ConfigError: Something is malformed, missing or not set; the message says what sets it.
    """
    words = parse_overrides(overrides)
    edits = [Override(key, literal(value), adds=True) for key, value in (flags or {}).items()]
    edits += [word for word in words if word.key != INCLUDES]
    files = _files(components, [*paths, *_listed(words)], cwd)
    tree = _merged(files)
    _edit(tree, edits)
    written: Any = OmegaConf.to_container(tree)
    local = cwd / "env.yaml"
    faults = unread_faults(written, _places(files, words, local))
    warnings = [*unread_warnings(written, list(files.get(local, ())), local), *variable_warnings(written, environ)]
    for key in drop:
        tree.pop(key, None)
    values: Any = resolved(tree, environ) if resolve else OmegaConf.to_container(tree)
    if resolve:
        faults += configured_param_faults(values)
    return Config(values, tuple(files), tuple(faults), tuple(warnings))


def entries(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Name, type, folder and settings of every top-level entry that is a server.

    Raises:
        ConfigError: An entry has the type of a server, but not the shape of one.
    """
    for name, block in values.items():
        kind, folders = _only_item(block)
        folder, settings = _only_item(folders)
        if kind is not None and folder is not None and isinstance(settings, dict):
            yield str(name), kind, folder, settings
        elif isinstance(block, dict) and any(known in block for known in REFERENCE_TYPES):
            raise _misshapen(str(name), block)


def _files(components: Components, listed: list[str | Path], cwd: Path) -> dict[Path, DictConfig]:
    local = cwd / "env.yaml"
    if not local.is_file():
        return read_files(components, listed)
    tree = read_file(local)
    files = read_files(components, listed or included(tree, local))
    files.pop(local.resolve(), None)
    return {**files, local: tree}


def _places(files: Mapping[Path, DictConfig], words: Iterable[Override], local: Path) -> dict[str, str]:
    """Where each top-level key comes from, those aside that only `env.yaml` has."""
    places = {str(key): str(path) for path, layer in files.items() if path != local for key in layer}
    return places | {word.key.partition(".")[0]: "command line" for word in words}


def _merged(files: Mapping[Path, DictConfig]) -> DictConfig:
    tree = DictConfig({})
    for path, layer in files.items():
        try:
            tree.merge_with(layer)
        except OmegaConfBaseException as error:
            place = dotted(clash(OmegaConf.to_container(tree), OmegaConf.to_container(layer)) or ())
            raise ConfigError(f"`{place}` is a list in one file and a mapping in another", where=str(path)) from error
    tree.pop(INCLUDES, None)
    return tree


def _listed(words: Iterable[Override]) -> list[str]:
    lists = [word.value for word in words if word.key == INCLUDES]
    if not all(isinstance(paths, list) for paths in lists):
        raise ConfigError(
            f"`{INCLUDES}` must be a list of paths", mend=f"write '+{INCLUDES}=[one.yaml,two.yaml]', or --config one.yaml"
        )
    return [str(path) for paths in lists for path in paths]


def _edit(tree: DictConfig, edits: list[Override]) -> None:
    """Expand what is inherited, and apply the edits.

    They are applied twice: before, so that what is set in an inherited block reaches all that inherit it, and after, so that
    what is only inherited can be removed.
    """
    if not all(edit.adds for edit in edits):
        whole = copy.deepcopy(tree)
        expand_inheritance(whole)
        check_overrides(whole, edits)
    again = [edit for edit in edits if apply_override(tree, edit)]
    expand_inheritance(tree)
    for edit in again:
        apply_override(tree, edit)


def _only_item(node: Any) -> tuple[str | None, Any]:
    if not isinstance(node, dict) or len(node) != 1:
        return None, None
    key, value = next(iter(node.items()))
    return str(key), value


def _misshapen(name: str, block: dict[str, Any]) -> ConfigError:
    kind = next(known for known in REFERENCE_TYPES if known in block)
    folders = block[kind]
    if len(block) > 1:
        others = ", ".join(f"`{key}`" for key in block if key != kind)
        return ConfigError(
            f"`{name}` has {others} beside `{kind}`", where=name, mend=f"indent settings below `{kind}` and its folder"
        )
    if isinstance(folders, dict) and len(folders) > 1:
        last = list(folders)[-1]
        others = " ".join(f"~{name}.{kind}.{folder}" for folder in folders if folder != last)
        return ConfigError(
            f"`{name}` names more than one folder: {', '.join(map(str, folders))}",
            where=f"{name}.{kind}",
            mend=f"keep one; to keep `{last}`: {others}",
        )
    return ConfigError(
        f"`{name}` is not a server", where=f"{name}.{kind}", mend=f"write {name}: {{{kind}: {{<folder>: {{...}}}}}}"
    )
