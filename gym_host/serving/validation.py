# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""All that can be known to be wrong with a configuration without starting anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from omegaconf import OmegaConf

from gym_host.config.components import SERVER_TYPES, Components
from gym_host.config.configuration import Config, Instance
from gym_host.config.containers import leaves
from gym_host.config.datasets import AGENTS, Dataset, read_dataset
from gym_host.config.interpolation import MISSING, resolved_where_possible
from gym_host.config.references import check_references
from gym_host.config.settings import check_settings
from gym_host.errors import ConfigError
from gym_host.serving.local import load_program
from gym_host.serving.ports import port_faults


@dataclass(frozen=True, slots=True)
class Validation:
    """What a configuration holds, and what is wrong with it.

    Attributes:
        faults: All that is wrong; in words that a user can mend it by.
        servers: The instances that our host runs.
        skipped: The instances that it leaves out, since it has no such type or folder.
        datasets: The data of its agents.
    """

    faults: tuple[ConfigError, ...]
    servers: tuple[Instance, ...] = ()
    skipped: tuple[Instance, ...] = ()
    datasets: tuple[Dataset, ...] = ()


def validate(config: Config, components: Components, environ: Mapping[str, str]) -> Validation:
    """Looks at a configuration as it is written.

    Args:
        config: The configuration, unresolved.
        components: Where its components lie.
        environ: The environment variables that `${oc.env:...}` reads.
    """
    values, faults = resolved_where_possible(OmegaConf.create(config.values), environ)
    config = replace(config, values=values)
    try:
        servers, skipped = config.instances(components), config.skipped(components)
    except ConfigError as error:
        return Validation((*faults, error))  # What is not shaped as a server leaves open what all else refers to.
    faults += check_references(config, components)
    faults += [fault for instance in skipped if (fault := _without_program(instance, components)) is not None]
    faults += [fault for instance in servers for fault in _settings_faults(instance)]
    faults += port_faults(servers)
    datasets = [found for agent in servers if agent.type == AGENTS for found in _datasets(config, components, agent.name)]
    faults += [found for found in datasets if isinstance(found, ConfigError)]
    return Validation(tuple(faults), servers, skipped, tuple(found for found in datasets if isinstance(found, Dataset)))


def _without_program(instance: Instance, components: Components) -> ConfigError | None:
    """A folder of ours in which there is no such program; a folder that is not ours is none of our business."""
    if instance.type not in SERVER_TYPES:
        return None
    folder = components.locate(f"{instance.type}/{instance.folder}")
    if folder is None:
        return None
    entrypoint = instance.settings.get("entrypoint", "app.py")
    return ConfigError(f"there is no program `{entrypoint}` in {folder}", where=f"{instance.place}.entrypoint")


def _settings_faults(instance: Instance) -> list[ConfigError]:
    try:
        program = load_program(instance)
    except ConfigError as error:
        return [error]
    settings, faults = check_settings(program.settings_type, instance.settings, where=instance.place, unknown=MISSING)
    if settings is None or program.validate is None or any(leaf == MISSING for _, leaf in leaves(instance.settings)):
        return faults
    return [ConfigError(text, where=instance.place) for text in program.validate(settings)]


def _datasets(config: Config, components: Components, agent: str) -> Iterator[Dataset | ConfigError]:
    try:
        entries = config.datasets(agent)
    except ConfigError:
        return  # What is wrong with the shape of an entry is found among the settings.
    for entry in entries:
        try:
            dataset = read_dataset(entry, agent, components)
        except ConfigError as error:
            yield ConfigError(error.what, where=f"{agent}.datasets", mend=error.mend)
            continue
        yield dataset
        if dataset.prepare_script is None and not dataset.path.exists():
            yield ConfigError(
                f"the rows {dataset.path} of the dataset `{dataset.name}` are missing, and no prepare_script makes them",
                where=f"{agent}.datasets",
            )
