# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym list` and `gym search`: what there is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import orjson

from gym_host.cli.columns import columns
from gym_host.cli.output import say_next
from gym_host.cli.parser import Parser, add_search_dir
from gym_host.cli.setup import find_components
from gym_host.config.catalogue import KINDS, Entry, catalogue, pick, search
from gym_host.errors import ConfigError

_NEXT = {
    "benchmarks": "gym eval prepare --benchmark {name}",
    "environments": "gym env validate --environment {name}",
    "agents": "gym env test +entrypoint=responses_api_agents/{name}",
    "models": "gym eval run --benchmark NAME --model-type {name} --model MODEL --model-url URL --output FILE",
}


def add_list_flags(parser: Parser) -> None:
    parser.add_argument("kind", choices=KINDS, metavar="TYPE", help=f"one of {', '.join(KINDS)}")
    parser.add_argument("name", nargs="?", metavar="NAME", help="show only this one")
    _add_shared(parser)


def list_all(args: argparse.Namespace) -> int:
    """Prints all of a kind, or one of them.

    Raises:
        ConfigError: There is none of the name.
    """
    entries = catalogue(find_components(args), [args.kind])
    _print([pick(entries, args.name)] if args.name else entries, args, kinds=False)
    return 0


def add_search_flags(parser: Parser) -> None:
    parser.add_argument("words", nargs="+", metavar="[TYPE] QUERY", help=f"what to look for, among {', '.join(KINDS)} or in all")
    _add_shared(parser)


def find(args: argparse.Namespace) -> int:
    """Prints what a query finds.

    Returns:
        0 if it finds anything, else 1.

    Raises:
        ConfigError: There is a type and no query.
    """
    first, *rest = args.words
    kinds, words = ([first], rest) if first in KINDS else (list(KINDS), args.words)
    if not words:
        raise ConfigError(f"nothing says what to look for among the {first}", mend=f"write gym search {first} QUERY")
    found = search(catalogue(find_components(args), kinds), " ".join(words))
    _print(found, args, kinds=True)
    return 0 if found else 1


def _add_shared(parser: Parser) -> None:
    add_search_dir(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _print(entries: Sequence[Entry], args: argparse.Namespace, *, kinds: bool) -> None:
    if args.json:
        plain = [
            {"type": entry.kind, "name": entry.name, "description": entry.description, "path": str(entry.path)}
            for entry in entries
        ]
        print(orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode())
    elif not entries:
        print("nothing found")
        say_next(f"gym list TYPE shows all of a type: {', '.join(KINDS)}")
    else:
        rows = [(entry.kind, entry.name, entry.description) for entry in entries]
        print(columns(row if kinds else row[1:] for row in rows))
        if len(entries) == 1:
            print(f"  {entries[0].path}")
        say_next(_NEXT[entries[0].kind].format(name=entries[0].name if len(entries) == 1 else "NAME"))
