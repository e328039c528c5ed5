# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations in a folder of a test's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_host.config.components import Components
from gym_host.config.configuration import Config, load_config
from gym_host.errors import ConfigError

AGENT = """
verifier:
  resources_servers:
    judge: {entrypoint: app.py, temperature: 0.0, endpoints: [a, b]}
talker:
  responses_api_agents:
    agent:
      entrypoint: app.py
      max_turns: 5
      model_server: {type: responses_api_models, name: policy_model}
      resources_server: {type: resources_servers, name: verifier}
policy_model:
  responses_api_models:
    provider: {base_url: "${policy_base_url}", model: "${policy_model_name}"}
"""
POLICY = {"policy_base_url": "http://localhost:8000/v1", "policy_model_name": "m"}


class Folder:
    """A working directory that is the only root, and what is loaded there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.components = Components((path,))

    def put(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def load(self, *paths: str, overrides: tuple[str, ...] = (), environ: dict[str, str] | None = None, **more: Any) -> Config:
        return load_config(self.components, paths, overrides, cwd=self.path, environ=environ or {}, **more)

    def values(self, *paths: str, overrides: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
        return self.load(*paths, overrides=overrides, **more).values

    def fault(self, *paths: str, overrides: tuple[str, ...] = (), **more: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(*paths, overrides=overrides, **more)
        return str(caught.value)
