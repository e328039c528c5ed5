# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Configuration files: read them, and bring those that they include into the order in which they are merged.

An included file comes before the file that includes it, depth first, and each file comes once. So the including file wins
over the included one, and of two files side by side the later one wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError
from yaml.error import MarkedYAMLError

from gym_host.config.components import Components
from gym_host.config.masking import mask_text
from gym_host.errors import ConfigError

INCLUDES = "config_paths"


def read_files(components: Components, paths: Iterable[str | Path]) -> dict[Path, DictConfig]:
    """The files and all that they include, in the order in which they are to be merged.

    Args:
        components: The roots that relative paths start from.
        paths: What the user listed.

    Raises:
        ConfigError: A file is missing or malformed, or files include each other in a circle.
    """
    files: dict[Path, DictConfig] = {}
    for path in paths:
        _add(components, components.find(path), files, ())
    return files


def read_file(path: Path) -> DictConfig:
    """One YAML file, unresolved; an empty file is an empty mapping.

    Raises:
        ConfigError: The file cannot be read, or is not a mapping in well-formed YAML without duplicate keys.
    """
    try:
        tree = OmegaConf.load(path)
    except YAMLError as error:
        raise _malformed(path, error) from None  # The message of the parser shows the line, which may hold a secret.
    except OmegaConfBaseException as error:
        raise ConfigError(f"`{path}`: {str(error).splitlines()[0]}", where=f"key {error.full_key}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"`{path}` is not a text file in UTF-8") from None
    except OSError as error:
        raise ConfigError(f"`{path}` cannot be read: {error.strerror or error}") from error
    if not isinstance(tree, DictConfig):
        raise ConfigError(f"`{path}` must be a mapping of keys to values, and is a list")
    return tree


def included(tree: DictConfig, path: Path) -> list[str]:
    """The files that this one includes.

    Raises:
        ConfigError: The entry is not a list of paths.
    """
    entries = OmegaConf.to_container(tree).get(INCLUDES) or []  # type: ignore[union-attr]
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ConfigError(
            f"`{INCLUDES}` must be a list of paths", where=str(path), mend=f"write `{INCLUDES}: [one.yaml, two.yaml]`"
        )
    return entries


def _add(components: Components, path: Path, files: dict[Path, DictConfig], including: tuple[Path, ...]) -> None:
    path = path.resolve()
    if path in including:
        circle = " -> ".join(map(str, (*including[including.index(path) :], path)))
        raise ConfigError("configuration files include each other in a circle", where=circle)
    if path in files:
        return
    tree = read_file(path)
    for entry in included(tree, path):
        found = components.locate(entry) or path.parent / entry
        if not found.exists():
            raise ConfigError(
                f"there is no file `{entry}`",
                where=f"`{INCLUDES}` of {path}",
                mend=f"write it relative to that file, or to one of {', '.join(map(str, components.roots))}",
            )
        _add(components, found, files, (*including, path))
    files[path] = tree


def _malformed(path: Path, error: YAMLError) -> ConfigError:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    problem = error.problem if isinstance(error, MarkedYAMLError) and error.problem else str(error).splitlines()[0]
    # An unquoted password may be read as one of these.
    problem = mask_text(re.sub(r"\b(alias|anchor|tag handle|tag) ['\"].*", r"\1", problem))
    place = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else str(path)
    return ConfigError(f"malformed YAML: {problem}", where=place)
