# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval prepare`: makes the rows of a benchmark."""

from __future__ import annotations

import argparse
from itertools import chain

from gym_host.cli.output import say_next
from gym_host.cli.parser import add_config_flags
from gym_host.cli.setup import load_setup, words_of_configuration
from gym_host.config.configuration import Instance
from gym_host.config.containers import leaves
from gym_host.config.datasets import AGENTS, datasets
from gym_host.config.masking import MASK
from gym_host.errors import ConfigError
from gym_host.jsonl import Json
from gym_host.wording import quoted

_CHATBOT = {
    "policy_model_name": ("model", "NAME"),
    "policy_base_url": ("model_url", "URL"),
    "policy_api_key": ("model_api_key", "KEY"),
}
"""Settings that say which chatbot is evaluated -> the word of the command that sets each, and what it wants."""


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
    say_next(f"gym eval run {quoted(*_same_words(args))}{_chatbot(args, setup.config.values)} --output results/run.jsonl")
    return 0


def _same_words(args: argparse.Namespace) -> list[str]:
    """The words that chose this configuration; those that hold a secret are left out."""
    words = words_of_configuration(args)
    overrides = [text for text in words.pop("overrides", []) if not text.endswith(MASK)]
    flags = [[f"--{word.replace('_', '-')}", value] for word, values in words.items() for value in values]
    return [*chain.from_iterable(flags), *overrides]


def _chatbot(args: argparse.Namespace, values: Json) -> str:
    """The flags that say which chatbot is evaluated, where the configuration asks for them; their values are for the user."""
    texts = [leaf for _, leaf in leaves(values) if isinstance(leaf, str)]
    asked = {key for key in _CHATBOT if key not in values and any(f"${{{key}}}" in text for text in texts)}
    given = {key for key, (word, _) in _CHATBOT.items() if getattr(args, word) is not None}
    return "".join(f" --{word.replace('_', '-')} {what}" for key, (word, what) in _CHATBOT.items() if key in asked | given)
