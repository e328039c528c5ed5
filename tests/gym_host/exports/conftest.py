# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A finished run of the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_host.cli.main import main
from tests.support.components import KEY_VARIABLES

RUN = ("eval", "run", "--benchmark", "vera_mh_demo", "--model", "careless", "--limit", "4", "--num-repeats", "2")


@pytest.fixture(scope="package")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its rollouts file; nothing may be written beside it."""
    rollouts = tmp_path_factory.mktemp("demo") / "careless.jsonl"
    with pytest.MonkeyPatch.context() as environment:
        for name in KEY_VARIABLES:
            environment.delenv(name, raising=False)
        environment.chdir(rollouts.parent)
        assert main([*RUN, "--output", str(rollouts)]) == 0
    return rollouts
