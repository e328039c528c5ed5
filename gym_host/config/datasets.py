# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a configuration: which agent runs which dataset, where the rows lie, and the script that makes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_host.config.components import Components
from gym_host.config.configuration import Config, Instance
from gym_host.config.scripts import function, load
from gym_host.errors import ConfigError
from gym_host.wording import suggestion

AGENTS = "responses_api_agents"


@dataclass(frozen=True, slots=True)
class Dataset:
    """One `datasets` entry of an agent.

    Attributes:
        name: Its name.
        agent: Name of the agent instance that declares it.
        split: Its type, such as `benchmark` or `example`.
        path: Where its rows lie, or will lie.
        prepare_script: The script that makes it, or None.
        num_repeats: Rollouts of each row.
    """

    name: str
    agent: str
    split: str
    path: Path
    prepare_script: Path | None
    num_repeats: int

    def prepare(self) -> Path:
        """Runs the script that makes the rows.

        Raises:
            ConfigError: There is no script, it has no `prepare`, or it refuses; in its words.
        """
        if self.prepare_script is None:
            raise ConfigError(f"the rows {self.path} are missing, and the dataset `{self.name}` has no prepare_script")
        try:
            return Path(function(self.prepare_script, "prepare")())
        except ConfigError:
            raise
        except Exception as error:
            # A benchmark's own refusal (no network, a drifted file) is the user's to mend, and said in its words.
            raise ConfigError(f"the dataset `{self.name}` cannot be prepared: {error}") from error

    def rows(self) -> Path:
        """The file of the rows, made if it is not there, and found to be what its script makes, if the script can tell.

        Raises:
            ConfigError: They cannot be made, or are others; in the script's words.
        """
        if not self.path.exists():
            return self.prepare()
        check = getattr(load(self.prepare_script), "check", None) if self.prepare_script else None
        try:
            if callable(check):
                check(self.path)
        except Exception as error:
            raise ConfigError(f"the rows of the dataset `{self.name}` are not to be used: {error}") from error
        return self.path


def rows_beside(script: Path, name: str) -> Path:
    """Where a prepare script puts its rows: `data/` beside it, or the same place under the working directory.

    Args:
        script: The script, `<root>/benchmarks/<benchmark>/prepare.py`.
        name: Name of the rows file.

    Returns:
        The path; under the working directory where the installation cannot be written.
    """
    folder = script.resolve().parent
    beside = folder / "data" / name
    if os.access(beside.parent if beside.parent.exists() else folder, os.W_OK):
        return beside
    return Path.cwd() / "benchmarks" / folder.name / "data" / name


def datasets(config: Config, components: Components, agents: Iterable[Instance]) -> Iterator[Dataset]:
    """All datasets of the given agents.

    Raises:
        ConfigError: An entry lacks a key, or its script is not there.
    """
    for agent in agents:
        for entry in config.datasets(agent.name):
            yield read_dataset(entry, agent.name, components)


def read_dataset(entry: Mapping[str, Any], agent: str, components: Components) -> Dataset:
    """One `datasets` entry of an agent.

    Raises:
        ConfigError: The entry lacks a key, or its script is not there.
    """
    for key in ("name", "type", "jsonl_fpath"):
        if not isinstance(entry.get(key), str):
            raise ConfigError(f"a dataset lacks `{key}`", where=f"{agent}.datasets")
    script = entry.get("prepare_script")
    script_path = components.find(str(script)) if script else None
    rows = Path(entry["jsonl_fpath"])
    # Rows that are not there yet are made beside the script that makes them.
    root = Path(str(script_path).removesuffix(str(Path(str(script))))) if script_path else Path.cwd()
    return Dataset(
        name=entry["name"],
        agent=agent,
        split=entry["type"],
        path=components.locate(rows) or root / rows,
        prepare_script=script_path,
        num_repeats=_repeats(entry.get("num_repeats"), agent),
    )


def _repeats(value: Any, agent: str) -> int:
    if value is None:
        return 1
    if not str(value).isdecimal() or int(str(value)) < 1:
        raise ConfigError(f"num_repeats is {value!r}, and not a whole number from 1 on", where=f"{agent}.datasets")
    return int(str(value))


def pick_agent(agents: Iterable[Instance], name: str | None) -> Instance:
    """The agent of a name, or the only one there is.

    Raises:
        ConfigError: There is none, or the name has to be given.
    """
    by_name = {agent.name: agent for agent in agents}
    if name is not None:
        if name not in by_name:
            raise ConfigError(f"there is no agent `{name}`", where="--agent", mend=suggestion(name, by_name))
        return by_name[name]
    if not by_name:
        raise ConfigError("the configuration has no agent", mend="name a benchmark with --benchmark")
    if len(by_name) > 1:
        raise ConfigError("more than one agent could run these rows", where="--agent", mend=f"name one of: {', '.join(by_name)}")
    return next(iter(by_name.values()))


def pick_dataset(config: Config, components: Components, agents: Iterable[Instance], split: str) -> Dataset:
    """The only dataset of a split among the given agents.

    Raises:
        ConfigError: There is none, or more than one.
    """
    found = list(datasets(config, components, agents))
    matching = [dataset for dataset in found if dataset.split == split]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        others = ", ".join(sorted({dataset.split for dataset in found})) or "none"
        raise ConfigError(f"no agent has a dataset of the split `{split}`", where="--split", mend=f"splits there are: {others}")
    names = ", ".join(f"{dataset.name} ({dataset.agent})" for dataset in matching)
    raise ConfigError(
        f"more than one dataset has the split `{split}`: {names}", mend="choose one with --agent, or rows with --input"
    )
