# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""All commands that there are, so that a test over every command notices a new one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from gym_host.cli.main import build_parser


def all_commands() -> set[str]:
    """`eval run`, `env start`, `list` and so on."""
    return set(_below(build_parser(), ()))


def _below(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[str]:
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield " ".join(words)
    for group in groups:
        for word, child in group.choices.items():
            yield from _below(child, (*words, word))
