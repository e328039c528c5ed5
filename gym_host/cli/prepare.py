# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval prepare`: makes the rows of a benchmark."""

from __future__ import annotations

import argparse

from gym_host.cli.output import say_next
from gym_host.cli.parser import add_config_flags
from gym_host.cli.setup import load_setup
from gym_host.config.configuration import Instance
from gym_host.config.datasets import AGENTS, datasets
from gym_host.errors import ConfigError


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the prepare script of every dataset of the configuration."""
    setup = load_setup(args, resolve=False)
    agents: list[Instance] = [i for i in setup.config.instances(setup.components) if i.type == AGENTS]
    scripted = [dataset for dataset in datasets(setup.config, setup.components, agents) if dataset.prepare_script]
    if not scripted:
        raise ConfigError("no dataset of this configuration has a prepare_script", mend="name a benchmark with --benchmark")
    for dataset in scripted:
        path = dataset.prepare()
        with path.open("rb") as lines:
            print(f"{dataset.name}: {sum(1 for _ in lines)} rows in {path}")
    say_next(f"gym eval run --benchmark {args.benchmark[0] if args.benchmark else '...'} --output results/run.jsonl")
    return 0
