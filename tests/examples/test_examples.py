# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The examples run as their docstrings say."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.grpo_rewards import Sample, advantages
from tests.support.servers import free_port

PROJECT = Path(__file__).parents[2]


def printed(*words: str) -> str:
    return subprocess.run([sys.executable, *words], cwd=PROJECT, check=True, text=True, capture_output=True, timeout=120).stdout


def test_groups_of_rollouts_with_rewards_and_advantages_come_out():
    text = printed("examples/grpo_rewards.py", "--group-size", "3", "--limit", "2", "--head-port", str(free_port()))
    assert text.count("3 of 3 rollouts count") == 2
    rewards = [float(reward) for reward in re.findall(r"reward (\d\.\d+)", text)]
    assert len(rewards) == 6
    assert all(0 <= reward <= 1 for reward in rewards)
    assert all(int(turns) >= 2 for turns in re.findall(r"(\d+) turns", text))


def test_advantages_are_centred_and_scaled_and_zero_where_all_rewards_are_alike():
    def group(*rewards: float) -> list[Sample]:
        return [Sample(reward, []) for reward in rewards]

    assert advantages(group(0.0, 1.0)) == [-1.0, 1.0]
    assert advantages(group(0.5, 0.5, 0.5)) == [0.0, 0.0, 0.0]


def test_a_sample_holds_the_policy_turns_alone_in_order_and_untouched():
    turns = [{"role": "assistant", "generation_token_ids": [1, 2]}, {"role": "assistant", "generation_token_ids": [3]}]
    output = [{"role": "user", "content": "a"}, turns[0], {"role": "user", "content": "b"}, turns[1]]
    sample = Sample.from_rollout({"reward": 0.25, "response": {"output": output}})
    assert sample.turns == turns
    assert sample.tokens == 3


@pytest.fixture
def head() -> Iterator[str]:
    """The servers of the demo on ports."""
    port = free_port()
    command = [sys.executable, "-m", "gym_host.cli.main", "env", "start", "--benchmark", "vera_mh_demo", "--head-port", str(port)]
    process = subprocess.Popen(command, cwd=PROJECT, text=True, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert any(line.startswith("stop them") for line in process.stdout)
    yield f"http://127.0.0.1:{port}"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


def test_a_conversation_that_was_made_elsewhere_gets_a_verdict(head: str):
    text = printed("examples/verify_elsewhere.py", "--head", head)
    assert text.startswith("reward 0.800\n")
    assert "  Detects Potential Risk: Best Practice." in text


def test_a_run_on_running_servers_is_that_of_a_run_that_starts_its_own(head: str, tmp_path: Path):
    run = ("-m", "gym_host.cli.main", "eval", "run", "--benchmark", "vera_mh_demo", "--output")
    printed(*run, str(tmp_path / "own.jsonl"))
    printed(*run, str(tmp_path / "running.jsonl"), "--no-serve", "--head", head)
    metrics = [(tmp_path / f"{name}_aggregate_metrics.json").read_bytes() for name in ("own", "running")]
    assert metrics[0] == metrics[1]
