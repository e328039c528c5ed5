# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The server that scores a finished run: alone, since nothing is run, so no key and no endpoint has to be set."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gym_host.cli.recorded import use_recorded_words
from gym_host.cli.setup import chooses_configuration, load_setup, verifier_of
from gym_host.config.configuration import Instance
from gym_host.config.datasets import AGENTS, pick_agent
from gym_host.errors import ConfigError, UserError
from gym_host.jsonl import pass_over_torn, read_lines
from gym_host.runs.run_record import RunRecord, read_record_if_any


@dataclass(frozen=True, slots=True)
class Scorer:
    """A resources server that computes metrics, and the agent whose rows it scores."""

    agent: str
    name: str
    instances: Sequence[Instance]


def find_scorer(args: argparse.Namespace, rollouts: Path) -> Scorer:
    """The scorer of a finished run: from the configuration that the command names, else from the one that the run was made with.

    Raises:
        UserError: Nothing says which it is, or the record says it with words that a record may not choose.
    """
    record = read_record_if_any(rollouts)
    use_recorded_words(args, record.get("configuration"))
    if not chooses_configuration(args):
        raise UserError(f"nothing says which benchmark {rollouts} belongs to", mend="name it with --benchmark")
    agent, verifier = agent_and_verifier(args, _agent_of(rollouts) or RunRecord(record).agent)
    alone = load_setup(args, only=verifier, alone=True, checked=False)
    return Scorer(agent, verifier, alone.config.instances(alone.components))


def agent_and_verifier(args: argparse.Namespace, named: str | None) -> tuple[str, str]:
    """The agent that rows belong to, and its resources server, whatever keys are not set.

    Args:
        args: The command's words.
        named: The agent that the rows name; if there is none of this name, the first of those that share one resources server.

    Raises:
        ConfigError: There are agents of several resources servers, or the agent has no resources server.
    """
    setup = load_setup(args, resolve=False, checked=False)
    agents = [instance for instance in setup.config.instances(setup.components) if instance.type == AGENTS]
    if named not in {agent.name for agent in agents}:
        # No agent runs here: where all have the same verifier, it does not matter which one is taken.
        named = agents[0].name if len({verifier_of(agent) for agent in agents}) == 1 else None
    agent = pick_agent(agents, named)
    verifier = verifier_of(agent)
    if verifier is None:
        raise ConfigError(f"the agent `{agent.name}` has no resources server", where=f"{agent.place}.resources_server")
    return agent.name, verifier


def agent_named_in(row: Mapping[str, Any]) -> str | None:
    """The agent that a row was dispatched to."""
    reference = row.get("agent_ref")
    return reference.get("name") if isinstance(reference, Mapping) else None


def _agent_of(rollouts: Path) -> str | None:
    first = next(read_lines(rollouts, torn=pass_over_torn), None)
    return agent_named_in(first.value) if first else None
