# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An empty folder, and one with an agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.configurations import AGENT, Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def agent(folder: Folder) -> Folder:
    folder.put("agent.yaml", AGENT)
    for app in ("resources_servers/judge", "responses_api_agents/agent", "responses_api_models/provider"):
        folder.put(f"{app}/app.py", "")
    return folder
