# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The words of the `gym` command."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from gym_host.config.masking import MASK, is_secret_name, mask_text
from gym_host.wording import suggestion

TOOL = "tool"

_LARGEST = 2**53 - 1
"""As far as all readers of JSON tell whole numbers apart."""
_MARKED_OVERRIDE = re.compile(r"\+{1,2}[\w.$]+=|~[\w.]+(=|$)")

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in a line or two, with the nearest word."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}\n  to mend it: see `{self.prog} --help`", file=sys.stderr)
        sys.exit(2)

    def words(self) -> list[str]:
        """All flags of this parser."""
        return [flag for action in self._actions for flag in action.option_strings]


def positive(text: str) -> int:
    """A whole number from 1 on."""
    number = int(text) if text.lstrip("+").isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    if number > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is too large a number")
    return number


def temperature(text: str) -> float:
    """A number from 0 on."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return number


def share(text: str) -> float:
    """A number above 0, and 1 at the most."""
    number = _number(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, up to 1")
    return number


def _number(text: str) -> float:
    """What a text says as a number; no number compares as none does."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def parse(parser: Parser, words: Sequence[str] | None) -> argparse.Namespace:
    """Reads a command line; words that hold a `=` or start with `~` are configuration overrides, wherever they stand."""
    words = list(sys.argv[1:] if words is None else words)
    _refuse_undecoded(parser, words)
    # Taken out beforehand, since a command that takes files would take such a word for one.
    marked = (
        [word for word in words if _MARKED_OVERRIDE.match(word)] if words[:1] != [TOOL] else []
    )  # A tool's words are its own.
    args, rest = parser.parse_known_args([word for word in words if word not in marked])
    rest = [word for word in words if word in marked or word in rest]  # In their own order: the last of two overrides wins.
    command: Parser = getattr(args, "parser", parser)
    overrides = [word for word in rest if not word.startswith("-") and ("=" in word or word.startswith("~"))]
    unknown = next((word for word in rest if word not in overrides), None)
    if unknown is not None:
        known = command.words() if unknown.startswith("-") else []
        hint = suggestion(unknown.split("=")[0], known) if known else "an override is written key=value"
        print(f"{command.prog}: there is no `{mask_text(_without_secret(unknown))}` here\n  to mend it: {hint}", file=sys.stderr)
        sys.exit(2)
    if overrides and not getattr(args, "takes_overrides", False):
        print(f"{command.prog}: takes no overrides, and `{overrides[0].partition('=')[0]}=...` looks like one", file=sys.stderr)
        sys.exit(2)
    args.overrides = overrides
    return args


def _refuse_undecoded(parser: Parser, words: Sequence[str]) -> None:
    """Refuses words that could not be read as text: what stands in them in its place is taken by no file of ours."""
    for word in words:
        if not word.isascii() and any("\ud800" <= character <= "\udfff" for character in word):
            print(
                f"{parser.prog}: `{mask_text(_without_secret(word))}` is not text in {sys.getfilesystemencoding()}, the encoding "
                "of words here\n  to mend it: set PYTHONUTF8=1 in the environment, or choose a name in plain letters",
                file=sys.stderr,
            )
            sys.exit(2)


def _without_secret(word: str) -> str:
    name, equals, _ = word.partition("=")
    return f"{name}={MASK}" if equals and is_secret_name(name) else word


def add_search_dir(parser: argparse._ActionsContainer) -> None:
    """The flag that says where else components lie."""
    parser.add_argument(
        "--search-dir", action="append", default=[], metavar="DIR", help="a further root of components; repeatable"
    )


def add_config_flags(parser: argparse.ArgumentParser) -> None:
    """The flags that choose a configuration."""
    group = parser.add_argument_group("configuration")
    group.add_argument("--config", action="append", default=[], metavar="PATH", help="a configuration file; repeatable")
    group.add_argument("--benchmark", action="append", default=[], metavar="NAME", help="a benchmark by name; repeatable")
    group.add_argument("--environment", action="append", default=[], metavar="NAME", help="an environment by name")
    group.add_argument("--resources-server", action="append", default=[], metavar="NAME", help="a resources server by name")
    group.add_argument(
        "--model-type", metavar="NAME", help="the kind of model server for the policy (default: inference_provider)"
    )
    add_search_dir(group)
    group.add_argument("--model", "-m", metavar="MODEL", help="the model to be evaluated (policy_model_name)")
    group.add_argument("--model-url", metavar="URL", help="its OpenAI-compatible endpoint (policy_base_url)")
    group.add_argument("--model-api-key", metavar="KEY", help="its key (policy_api_key); better kept in env.yaml")
    parser.set_defaults(takes_overrides=True)
    parser.epilog = "Any configuration key can be set as key=value, added as +key=value, removed as ~key."
