# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval export`: what the command does whatever tool a run goes to."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gym_host.cli.export import TARGETS, Target
from tests.support.command import Gym


@pytest.mark.parametrize("tool", TARGETS)
def test_a_package_that_is_not_installed_is_told_with_what_installs_it(gym: Gym, tool: str, monkeypatch: pytest.MonkeyPatch):
    gym.put("x.jsonl", '{"_ng_task_index": 0, "_ng_rollout_index": 0}\n')
    target = TARGETS[tool]
    for name in [name for name in sys.modules if name == target.module or name.startswith(f"{target.package}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, target.package, None)
    said = gym.refuses("eval", "export", "x.jsonl", "--to", tool, "--output", "out")
    assert f"pip install 'vera-mh-gym[{tool}]'" in said


@pytest.mark.parametrize(
    ("planned", "first"), [(2, "INCOMPLETE: 1 of 2 rollouts has no score."), (1, "there")], ids=["incomplete", "complete"]
)
def test_an_incomplete_run_is_handed_over_and_said_to_be_incomplete(
    gym: Gym, planned: int, first: str, monkeypatch: pytest.MonkeyPatch
):
    row = '{"_ng_task_index": 0, "_ng_rollout_index": 0}\n'
    gym.put("x.jsonl", row)
    gym.put("x_materialized_inputs.jsonl", row * planned)
    target = Target("A tool", "json", "json", "json", lambda *_: "there", "look")
    monkeypatch.setitem(TARGETS, "inspect", target)
    said = gym("eval", "export", "x.jsonl", "--to", "inspect")
    assert (said.code, said.out.splitlines()[0]) == (0, first)


def test_a_tool_that_is_not_known_and_rollouts_that_are_not_there_are_refused(gym: Gym):
    assert "inspect" in gym.refuses("eval", "export", "x.jsonl", "--to", "excel")
    assert "x.jsonl" in gym.refuses("eval", "export", "x.jsonl", "--to", "inspect", "--output", "x.eval")


def test_no_other_command_loads_the_packages():
    program = "import sys; from gym_host.cli.main import build_parser; build_parser(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert "gym_host.cli.export" in loaded
    assert not {target.package for target in TARGETS.values()} & set(loaded)
    assert not {target.module for target in TARGETS.values()} & set(loaded)
