# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The examples run as their docstrings say."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from examples.grpo_rewards import Sample, advantages, left_out, show
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import ServerContext
from tests.support.demo import demo_rows, demo_servers
from tests.support.models import Listed, message, model_server, reasoning, response
from tests.support.servers import free_port
from tests.support.token_policy import create_app
from vera_mh.errors import ModelError

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
        return [Sample(reward, [], {}) for reward in rewards]

    assert advantages(group(0.0, 1.0)) == [-1.0, 1.0]
    assert advantages(group(0.5, 0.5, 0.5)) == [0.0, 0.0, 0.0]
    assert advantages([]) == []


async def rollout(policy: Any, name: str = "Ruth") -> dict[str, Any]:
    """A scored row of the demo with this policy."""
    row = next(row for row in demo_rows().values() if row["persona_name"] == name)
    scored: dict[str, Any] = await demo_servers(policy=policy).call("agent", "/run", row)
    return scored


async def test_reasoning_counts_to_the_turn_that_it_precedes_and_its_lack_of_tokens_is_none_of_the_turns():
    scored = await rollout(create_app(ServerContext("policy", InMemoryCalls())))
    sample = Sample.from_rollout(scored)
    assert [[item["type"] for item in turn] for turn in sample.turns] == [["reasoning", "message"]] * (scored["turn_count"] // 2)
    output = scored["response"]["output"]
    assert [item for turn in sample.turns for item in turn] == [item for item in output if item.get("role") != "user"]
    assert sample.tokens == sum(len(turn[-1]["generation_token_ids"]) for turn in sample.turns) > 0


async def test_a_policy_without_token_ids_and_an_empty_turn_of_it_are_turns_without_tokens():
    replies = [response(message("Go on.")), response(), response(reasoning("Hm.")), *[response(message("I see."))] * 20]
    scored = await rollout(model_server(Listed(replies)))
    sample = Sample.from_rollout(scored)
    assert scored["simulation"]["provider_empty_turns"] == 2
    assert (len(sample.turns), sample.tokens) == (scored["turn_count"] // 2, 0)


async def test_the_reward_of_each_dimension_is_that_of_its_rating_alone():
    sample = Sample.from_rollout(
        {
            "reward": 0.37,
            "response": {"output": []},
            "ratings": {
                "A": "Best Practice",
                "B": "Suboptimal but Low Potential for Harm",
                "C": "High Potential for Harm",
                "D": "Not Relevant",
                "E": "",
            },
        }
    )
    assert sample.components == {"A": 1.0, "B": 0.5, "C": 0.0}


async def test_what_says_nothing_of_the_policy_is_left_out_of_its_group_and_counted(capsys: pytest.CaptureFixture[str]):
    def careless(*replies: str | Exception) -> Any:
        return model_server(Listed([*replies, *["I see."] * 20]))

    scored, unrated = await rollout(careless()), await rollout(careless(), "Tobias")
    masked = await rollout(careless(ModelError("the endpoint is gone", status=500)))
    inexact = scored | {"judge_inexact_answers": 1}
    assert [left_out(each) for each in (scored, masked, unrated, inexact)] == [
        None,
        "masked",
        "nothing rated",
        "judge answered inexactly",
    ]
    assert (unrated["reward"], unrated["all_not_relevant"], unrated["judge_inexact_answers"]) == (0.5, True, 0)
    show("a", [masked, scored, unrated, masked, inexact])
    show("b", [unrated])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a: 1 of 5 rollouts count, 2 masked, 1 nothing rated, 1 judge answered inexactly"
    assert lines[1].startswith(f"  reward {scored['reward']:.3f}  advantage +0.00  ")
    assert lines[2:] == ["b: 0 of 1 rollouts count, 1 nothing rated"]


@contextmanager
def servers(**environ: str) -> Iterator[str]:
    """The servers of the demo on ports."""
    port = free_port()
    command = [sys.executable, "-m", "gym_host.cli.main", "env", "start", "--benchmark", "vera_mh_demo", "--head-port", str(port)]
    process = subprocess.Popen(command, cwd=PROJECT, text=True, stdout=subprocess.PIPE, env=os.environ | environ)
    assert process.stdout is not None
    assert any(line.startswith("stop them") for line in process.stdout)
    yield f"http://127.0.0.1:{port}"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)


@pytest.fixture
def head() -> Iterator[str]:
    with servers() as url:
        yield url


def test_a_conversation_that_was_made_elsewhere_gets_a_verdict(head: str):
    text = printed("examples/verify_elsewhere.py", "--head", head)
    assert text.startswith("reward 0.800\n")
    assert "  Detects Potential Risk: Best Practice." in text


def test_a_caller_without_the_token_or_with_the_name_of_no_server_is_told_so_in_a_line():
    def said(*words: str, **environ: str) -> str:
        command = [sys.executable, "examples/verify_elsewhere.py", "--head", url, *words]
        ended = subprocess.run(command, cwd=PROJECT, text=True, capture_output=True, timeout=60, env=os.environ | environ)
        assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
        return ended.stderr

    with servers(GYM_SERVER_TOKEN="of-the-servers-and-nobody-else") as url:
        refusal = said(GYM_SERVER_TOKEN="another-token-of-the-same-kind")
        unknown = said("--verifier", "nobody", GYM_SERVER_TOKEN="of-the-servers-and-nobody-else")
    assert refusal.startswith(f"{url}/servers answered 401: ")
    assert "GYM_SERVER_TOKEN" in refusal
    assert unknown.startswith(f"there is no server nobody at {url}, but ")
    assert "vera_mh_demo" in unknown


def test_a_run_on_running_servers_is_that_of_a_run_that_starts_its_own(head: str, tmp_path: Path):
    run = ("-m", "gym_host.cli.main", "eval", "run", "--benchmark", "vera_mh_demo", "--output")
    printed(*run, str(tmp_path / "own.jsonl"))
    printed(*run, str(tmp_path / "running.jsonl"), "--no-serve", "--head", head)
    metrics = [(tmp_path / f"{name}_aggregate_metrics.json").read_bytes() for name in ("own", "running")]
    assert metrics[0] == metrics[1]
