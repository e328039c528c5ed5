# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where the components lie: folders under a root, and the first root that has one wins.

```
<root>/benchmarks/<name>/config.yaml
<root>/resources_servers/<name>/{app.py, configs/<name>.yaml}
<root>/responses_api_agents/<name>/app.py
<root>/responses_api_models/<name>/{app.py, configs/<name>.yaml}
```
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gym_host.errors import ConfigError
from gym_host.wording import suggestion

SERVER_TYPES = ("resources_servers", "responses_api_agents", "responses_api_models")

REFERENCE_TYPES = (*SERVER_TYPES, "environment_servers")
"""The types of server that a reference can name; the last is NVIDIA's host's own."""

MODEL_TYPE_ALIASES = {"vllm_model": "inference_provider", "openai_model": "inference_provider"}
"""NVIDIA's words for a model type, and the folder that does the same work here."""

EXTRA_ROOTS = "NEMO_GYM_EXTRA_ROOTS"

_PACKAGE = Path(__file__).resolve().parents[1]


def installation_root() -> Path:
    """The root that came with the host: inside the installed wheel, or the checkout that the package lies in."""
    shipped = _PACKAGE / "components"
    return shipped if shipped.is_dir() else _PACKAGE.parent


@dataclass(frozen=True, slots=True)
class Components:
    """What lies under the roots.

    Args:
        roots: Folders, the one that wins first.
    """

    roots: tuple[Path, ...]

    @classmethod
    def discover(cls, search_dirs: Iterable[str | Path] = (), *, cwd: Path, environ: Mapping[str, str]) -> Components:
        """The roots in their order: the given ones, `NEMO_GYM_EXTRA_ROOTS`, the working directory, the installation.

        Args:
            search_dirs: Folders of `--search-dir`, relative to the working directory or absolute.
            cwd: The working directory.
            environ: The environment variables.

        Raises:
            ConfigError: One of `search_dirs`, or of those of the environment, is not a folder.
        """
        given = [cwd / Path(folder).expanduser() for folder in search_dirs]
        extra = [cwd / Path(entry).expanduser() for entry in environ.get(EXTRA_ROOTS, "").split(os.pathsep) if entry]
        for folders, where in ((given, "--search-dir"), (extra, f"environment variable {EXTRA_ROOTS}")):
            for folder in folders:
                if not folder.is_dir():
                    raise ConfigError(f"there is no folder `{folder}`", where=where)
        return cls(tuple(_distinct([*given, *extra, cwd, installation_root()])))

    def locate(self, relative: str | Path) -> Path | None:
        """The first root's file or folder of this relative path (an absolute one is taken as it is), or None."""
        candidates = (root / relative for root in self.roots)
        return next((candidate for candidate in candidates if candidate.exists()), None)

    def find(self, relative: str | Path) -> Path:
        """The same as `locate`, for what must be there.

        Raises:
            ConfigError: No root has it.
        """
        found = self.locate(relative)
        if found is None:
            searched = None if Path(relative).is_absolute() else f"searched {self._places()}"
            raise ConfigError(f"there is no file or folder `{relative}`", where=searched, mend="check the spelling of the path")
        return found

    def benchmark(self, name: str) -> Path:
        """The configuration of a benchmark."""
        return self._named("benchmark", name, self.benchmarks())

    def environment(self, name: str) -> Path:
        """The configuration of an environment: that of its resources server."""
        return self._named("environment", name, self.resources_servers())

    def resources_server(self, name: str) -> Path:
        """The configuration of a resources server."""
        return self._named("resources server", name, self.resources_servers())

    def model_type(self, name: str) -> Path:
        """The configuration of a model type, which may be one of NVIDIA's words."""
        known = dict(self.model_types())
        known.update({alias: known[folder] for alias, folder in MODEL_TYPE_ALIASES.items() if folder in known})
        return self._named("model type", name, tuple(known.items()))

    def app(self, server_type: str, folder: str, entrypoint: str = "app.py") -> Path | None:
        """The program of a server, or None if we have no such server."""
        if server_type not in SERVER_TYPES:
            return None
        found = self.locate(Path(server_type, folder, entrypoint))
        return found if found is not None and found.is_file() else None

    def benchmarks(self) -> tuple[tuple[str, Path], ...]:
        """Name and configuration of each benchmark, by name."""
        return self._listed("benchmarks", "config.yaml")

    def resources_servers(self) -> tuple[tuple[str, Path], ...]:
        """Name and configuration of each resources server, by name."""
        return self._listed("resources_servers", "configs/{name}.yaml")

    def agents(self) -> tuple[tuple[str, Path], ...]:
        """Name and program of each agent, by name."""
        return self._listed("responses_api_agents", "app.py")

    def model_types(self) -> tuple[tuple[str, Path], ...]:
        """Name and configuration of each model type that has a folder, by name."""
        return self._listed("responses_api_models", "configs/{name}.yaml")

    def _listed(self, kind: str, file: str) -> tuple[tuple[str, Path], ...]:
        found: dict[str, Path] = {}
        for root in self.roots:
            for folder in (root / kind).glob("*"):
                path = folder / file.format(name=folder.name)
                if path.is_file():
                    found.setdefault(folder.name, path)
        return tuple(sorted(found.items()))

    def _named(self, kind: str, name: str, known: Iterable[tuple[str, Path]]) -> Path:
        paths = dict(known)
        if name not in paths:
            raise ConfigError(f"there is no {kind} `{name}`", where=f"searched {self._places()}", mend=suggestion(name, paths))
        return paths[name]

    def _places(self) -> str:
        return ", ".join(map(str, self.roots))


def _distinct(folders: Iterable[Path]) -> Iterable[Path]:
    seen: set[Path] = set()
    for folder in folders:
        resolved = folder.resolve()
        if resolved not in seen:
            seen.add(resolved)
            yield folder
