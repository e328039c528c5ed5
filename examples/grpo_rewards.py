# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""VERA-MH as the reward of a GRPO-like trainer: rows in, groups of rollouts with rewards and advantages out.

Starts the servers of the demo on ports (with a policy that flips a coin in place of a model in training), posts each row several
times to the agent's `/run`, leaves masked rollouts out, and prints what a trainer would take from there.

    $ python examples/grpo_rewards.py --group-size 4 --limit 3
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

FOLDER = Path(__file__).parent
AGENT = "vera_mh_demo_agent"
SERVERS = ["--config", str(FOLDER / "coin_demo.yaml"), "--search-dir", str(FOLDER / "components")]
GYM = [sys.executable, "-m", "gym_host.cli.main"]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a trainer takes from one rollout.

    Attributes:
        reward: Reward of the conversation, 0 to 1.
        turns: Policy turns in order, each with its token ids and log-probabilities.
    """

    reward: float
    turns: list[Json]

    @classmethod
    def from_rollout(cls, rollout: Json) -> Sample:
        # Persona turns are user messages; all else is the policy's, as its server returned it.
        turns = [item for item in rollout["response"]["output"] if item.get("role") != "user"]
        return cls(rollout["reward"], turns)

    @property
    def tokens(self) -> int:
        return sum(len(turn["generation_token_ids"]) for turn in self.turns)


@contextmanager
def servers(head_port: int) -> Iterator[str]:
    """Runs the servers until they are ready, and yields the URL of their head."""
    command = [*GYM, "env", "start", *SERVERS, "--head-port", str(head_port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        # It lists the servers once all of them are ready; if one does not come up, it says so and ends.
        if not any(line.startswith("stop them") for line in process.stdout):
            raise SystemExit(process.wait())
        yield f"http://127.0.0.1:{head_port}"
    finally:
        process.terminate()
        process.communicate(timeout=30)


async def agent_url(session: aiohttp.ClientSession, head: str) -> str:
    """The address of the agent, as the head lists it."""
    async with session.get(f"{head}/servers") as answer:
        listed = await answer.json()
    return next(str(server["url"]) for server in listed["servers"] if server["name"] == AGENT)


async def rollout(session: aiohttp.ClientSession, url: str, row: Json) -> Sample | None:
    """One rollout; None if it is masked, because a simulator, the judge or the network failed rather than the policy."""
    async with session.post(f"{url}/run", json=row) as answer:
        answer.raise_for_status()
        result = await answer.json()
    return None if result.get("mask_sample") else Sample.from_rollout(result)


def advantages(group: list[Sample]) -> list[float]:
    """Rewards of a group, centred and scaled; zeros where all are alike, since such a group teaches nothing."""
    rewards = [sample.reward for sample in group]
    spread = statistics.pstdev(rewards)
    return [(reward - statistics.fmean(rewards)) / spread if spread else 0.0 for reward in rewards]


async def collect(head: str, rows: list[Json], group_size: int) -> Mapping[str, list[Sample]]:
    """Groups of rollouts, by row id."""
    timeout = aiohttp.ClientTimeout(total=None)
    # Servers that were started with a token ask for it; without one this header means nothing to them.
    headers = {"authorization": f"Bearer {os.environ.get('GYM_SERVER_TOKEN', '')}"}
    async with aiohttp.ClientSession(timeout=timeout, headers=headers) as session:
        url = await agent_url(session, head)
        jobs = [(row["id"], rollout(session, url, row)) for row in rows for _ in range(group_size)]
        samples = await asyncio.gather(*(job for _, job in jobs))
    groups: dict[str, list[Sample]] = {row["id"]: [] for row in rows}
    for (id_, _), sample in zip(jobs, samples, strict=True):
        if sample is not None:
            groups[id_].append(sample)
    return groups


def main() -> None:
    parser = argparse.ArgumentParser(description="Rewards for a GRPO-like trainer.")
    parser.add_argument("--group-size", type=int, default=4, help="rollouts of each row")
    parser.add_argument("--limit", type=int, default=3, help="rows")
    parser.add_argument("--head-port", type=int, default=11_000)
    args = parser.parse_args()
    dataset = FOLDER.parent / "benchmarks" / "vera_mh_demo" / "data" / "vera_mh_demo.jsonl"
    subprocess.run([*GYM, "eval", "prepare", "--benchmark", "vera_mh_demo"], check=True, stdout=subprocess.DEVNULL)
    rows = [json.loads(line) for line in dataset.read_text().splitlines()[-args.limit :]]
    with servers(args.head_port) as head:
        groups = asyncio.run(collect(head, rows, args.group_size))
    for id_, group in groups.items():
        print(f"{id_}: {len(group)} of {args.group_size} rollouts count")
        for sample, advantage in zip(group, advantages(group), strict=True):
            print(f"  reward {sample.reward:.3f}  advantage {advantage:+.2f}  {len(sample.turns)} turns, {sample.tokens} tokens")


if __name__ == "__main__":
    main()
