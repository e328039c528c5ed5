# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym dataset collate`: checks the data of a configuration and writes one file for each split."""

from __future__ import annotations

import argparse
from collections.abc import Set
from pathlib import Path

from gym_host.cli.output import say_next
from gym_host.cli.parser import add_config_flags
from gym_host.cli.setup import load_setup
from gym_host.config.datasets import AGENTS, datasets
from gym_host.runs.collation import Collated, Mode, collate
from gym_host.wording import quoted


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    parser.add_argument(
        "--mode", choices=[mode.value for mode in Mode], default=Mode.TRAIN_PREPARATION.value, help="which splits to collate"
    )
    parser.add_argument("--output-dir", type=Path, default=Path("results/collated"), metavar="DIR", help="where the files go")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")


def run(args: argparse.Namespace) -> int:
    """Collates the data of a configuration."""
    setup = load_setup(args, resolve=False)
    agents = [instance for instance in setup.config.instances(setup.components) if instance.type == AGENTS]
    found = datasets(setup.config, setup.components, agents)
    written = collate(found, Mode(args.mode), args.output_dir, overwrite=args.overwrite)
    for collated in written:
        print(_line(collated))
    say_next(_next({collated.split for collated in written}, args.output_dir))
    return 0


def _line(collated: Collated) -> str:
    ids = "no ids" if collated.unique_ids is None else f"{collated.unique_ids} unique ids"
    return f"{collated.split}: {collated.rows} rows, {ids}, in {collated.path}"


def _next(splits: Set[str], folder: Path) -> str:
    """What the files are for: rows of a benchmark are there to evaluate with, and a score on rows of the training is none."""
    what = "train or run on" if "train" in splits else "run"
    name = "SPLIT" if len(splits) > 1 else next(iter(splits))
    text = f"{what} these files, as in `gym eval run --input {quoted(folder / f'{name}.jsonl')}`"
    return f"{text}; benchmark.jsonl is there to evaluate with, not to train on" if "benchmark" in splits else text
