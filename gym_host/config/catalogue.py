# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What there is: benchmarks, environments, agents and models, each with a line that says what it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from gym_host.config.components import MODEL_TYPE_ALIASES, Components
from gym_host.config.config_files import read_file
from gym_host.errors import ConfigError
from gym_host.wording import suggestion

KINDS = ("benchmarks", "environments", "agents", "models")

_LIKE = 0.75  # How much of a word must agree for a search to find it.
_DEPTH = {"config.yaml": 1, "app.py": 1}  # How far below its folder the file of a component lies; `configs/x.yaml` is 2.


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that there is.

    Attributes:
        kind: One of `KINDS`.
        name: Its name.
        path: Its configuration or program.
        description: What it is, in a line; empty if nothing says so.
    """

    kind: str
    name: str
    path: Path
    description: str


def catalogue(components: Components, kinds: Iterable[str] = KINDS) -> list[Entry]:
    """Everything of these kinds, by kind and name."""
    return [Entry(kind, name, path, _description(path)) for kind in kinds for name, path in _named(components, kind)]


def pick(entries: Iterable[Entry], name: str) -> Entry:
    """The entry of a name.

    Raises:
        ConfigError: There is none.
    """
    by_name = {entry.name: entry for entry in entries}
    name = MODEL_TYPE_ALIASES.get(name, name) if name not in by_name else name
    if name not in by_name:
        raise ConfigError(f"there is nothing of the name `{name}`", mend=suggestion(name, by_name))
    return by_name[name]


def search(entries: Iterable[Entry], query: str) -> list[Entry]:
    """The entries in which every word of a query is found, or one much like it; whole names first, then parts of names."""
    words = query.lower().split()
    ranked = [(rank, number, entry) for number, entry in enumerate(entries) if (rank := _rank(entry, words)) is not None]
    return [entry for _, _, entry in sorted(ranked, key=lambda found: found[:2])]


def _rank(entry: Entry, words: list[str]) -> int | None:
    name, text = entry.name.lower(), f"{entry.name} {entry.description}".lower()
    if " ".join(words) == name:
        return 0
    if all(word in name for word in words):
        return 1
    if all(word in text for word in words):
        return 2
    spoken = text.replace("_", " ").replace("-", " ").split()
    return 3 if all(any(SequenceMatcher(None, word, other).ratio() >= _LIKE for other in spoken) for word in words) else None


def _named(components: Components, kind: str) -> tuple[tuple[str, Path], ...]:
    if kind == "benchmarks":
        return components.benchmarks()
    if kind == "environments":
        return components.resources_servers()
    return components.agents() if kind == "agents" else components.model_types()


def _description(path: Path) -> str:
    """The `description` of its configuration, else the first sentence of its README."""
    if path.suffix == ".yaml":
        for settings in _server_settings(path):
            if isinstance(settings.get("description"), str):
                return str(settings["description"])
    return _first_line(path.parents[_DEPTH.get(path.name, 2) - 1] / "README.md")


def _server_settings(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        values: Any = OmegaConf.to_container(read_file(path))
    except ConfigError:
        return  # A file that cannot be read is told by the command that needs it.
    for block in values.values():
        for folders in block.values() if isinstance(block, dict) else ():
            for settings in folders.values() if isinstance(folders, dict) else ():
                if isinstance(settings, dict):
                    yield settings


def _first_line(readme: Path) -> str:
    try:
        lines = readme.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    text: list[str] = []
    for line in lines:
        if line.strip() and not line.startswith(("#", "<", "[", "!", "|", "```")):
            text.append(line.strip())
        elif text:
            break
    return " ".join(text).partition(". ")[0].rstrip(".:")
