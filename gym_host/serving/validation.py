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
from gym_host.config.request_params import configured_param_faults
from gym_host.config.settings import check_settings
from gym_host.errors import ConfigError
from gym_host.serving.local import Remark, load_program
from gym_host.serving.ports import port_faults


@dataclass(frozen=True, slots=True)
class Validation:
    """What a configuration holds, and what is wrong with it.

    Attributes:
        faults: All that is wrong; in words that a user can mend it by.
        servers: The instances that our host runs.
        skipped: The instances that it leaves out, since it has no such type or folder.
        datasets: The data of its agents.
        warnings: What is not wrong, and should be known.
    """

    faults: tuple[ConfigError, ...]
    servers: tuple[Instance, ...] = ()
    skipped: tuple[Instance, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    warnings: tuple[ConfigError, ...] = ()


def validate(config: Config, components: Components, environ: Mapping[str, str]) -> Validation:
    """Looks at a configuration as it is written.

    Args:
        config: The configuration, unresolved.
        components: Where its components lie.
        environ: The environment variables that `${oc.env:...}` reads.
    """
    values, unset = resolved_where_possible(OmegaConf.create(config.values), environ)
    faults = [*config.faults, *unset, *configured_param_faults(values)]
    config = replace(config, values=values)
    try:
        servers, skipped = config.instances(components), config.skipped(components)
    except ConfigError as error:
        return Validation((*faults, error))  # What is not shaped as a server leaves open what all else refers to.
    faults += check_references(config, components)
    faults += [fault for instance in skipped if (fault := _without_program(instance, components)) is not None]
    said = [_said(instance) for instance in servers]
    faults += [fault for one in said for fault in one.faults]
    faults += _where_said([(remark, one.place) for one in said for remark in one.remarks if remark.is_error])
    faults += port_faults(servers)
    datasets = [found for agent in servers if agent.type == AGENTS for found in _datasets(config, components, agent.name)]
    faults += [found for found in datasets if isinstance(found, ConfigError)]
    return Validation(
        faults=tuple(faults),
        servers=servers,
        skipped=skipped,
        datasets=tuple(found for found in datasets if isinstance(found, Dataset)),
        warnings=(
            *config.warnings,
            *_where_said([(remark, one.place) for one in said for remark in one.remarks if not remark.is_error]),
        ),
    )


def _without_program(instance: Instance, components: Components) -> ConfigError | None:
    """A folder of ours in which there is no such program; a folder that is not ours is none of our business."""
    if instance.type not in SERVER_TYPES:
        return None
    folder = components.locate(f"{instance.type}/{instance.folder}")
    if folder is None:
        return None
    entrypoint = instance.settings.get("entrypoint", "app.py")
    return ConfigError(f"there is no program `{entrypoint}` in {folder}", where=f"{instance.place}.entrypoint")


@dataclass(frozen=True, slots=True)
class _Said:
    """What is wrong with the settings of a server, and what its program says of them."""

    place: str
    faults: list[ConfigError]
    remarks: tuple[Remark, ...] = ()


def _said(instance: Instance) -> _Said:
    try:
        program = load_program(instance)
    except ConfigError as error:
        return _Said(instance.place, [error])
    settings, faults = check_settings(program.settings_type, instance.settings, where=instance.place, unknown=MISSING)
    if settings is None or program.validate is None or any(leaf == MISSING for _, leaf in leaves(instance.settings)):
        return _Said(instance.place, faults)
    said = program.validate(settings)
    faults = [ConfigError(text, where=instance.place) for text in said if isinstance(text, str)]
    return _Said(instance.place, faults, tuple(remark for remark in said if not isinstance(remark, str)))


def _where_said(remarks: list[tuple[Remark, str]]) -> list[ConfigError]:
    """The remarks with the places of all servers that make them, each once."""
    servers: dict[tuple[str, str, str], list[str]] = {}
    for remark, server in remarks:
        servers.setdefault((remark.what, remark.place, remark.mend), []).append(server)
    return [
        ConfigError(what, where=f"{place}, for {', '.join(named)}", mend=mend) for (what, place, mend), named in servers.items()
    ]


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
