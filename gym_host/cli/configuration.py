# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env resolve`: shows a configuration. `gym env validate`: finds what is wrong with it. Neither starts anything."""

from __future__ import annotations

import argparse
import os

import orjson
import yaml

from gym_host.cli.columns import columns
from gym_host.cli.output import say_next
from gym_host.cli.parser import Parser, add_config_flags
from gym_host.cli.setup import load_setup
from gym_host.config.masking import masked
from gym_host.config.models import models_asked, models_shown
from gym_host.errors import ConfigError
from gym_host.serving.validation import Validation, validate
from gym_host.wording import counted


def add_flags(parser: Parser) -> None:
    add_config_flags(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def resolve(args: argparse.Namespace) -> int:
    """Prints the resolved configuration without its secrets.

    Raises:
        ConfigError: It cannot be resolved.
    """
    values = masked(load_setup(args).config.values)
    if args.json:
        print(_json(values))
        return 0
    print(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=130).rstrip())
    print("# next: gym env validate with the same words finds what is wrong with it")  # A comment, so that all of it is YAML.
    return 0


def check(args: argparse.Namespace) -> int:
    """Prints all that is wrong with a configuration, and what should be known of it.

    Returns:
        0 if nothing is, else 2.
    """
    try:
        setup = load_setup(args, resolve=False, checked=False)
    except ConfigError as error:
        found = Validation((error,))
    else:
        found = validate(setup.config, setup.components, os.environ)
    print(_json(_plain(found)) if args.json else _text(found))
    if not args.json:
        say_next("mend these, and validate again" if found.faults else "gym eval run with the same words, and --output FILE")
    return 2 if found.faults else 0


def _text(found: Validation) -> str:
    lines = [f"error: {fault}" for fault in found.faults] + [f"warning: {warning}" for warning in found.warnings]
    if models := models_shown(found.servers):
        lines += ["models that are asked:", *models]
    if found.skipped:
        lines.append("left out, since this host has no such server:")
        lines.append(columns([(skipped.name, f"{skipped.type}/{skipped.folder}") for skipped in found.skipped], indent="  "))
    counts = f"{counted(len(found.servers), 'server')}, {counted(len(found.datasets), 'dataset')}, {len(found.skipped)} left out"
    if found.warnings:
        counts += f", {counted(len(found.warnings), 'warning')}"
    lines.append(f"{counted(len(found.faults), 'fault')}: {counts}" if found.faults else f"ok: {counts}")
    return "\n".join(lines)


def _plain(found: Validation) -> dict[str, object]:
    return {
        "ok": not found.faults,
        "faults": [{"what": fault.what, "where": fault.where, "mend": fault.mend} for fault in found.faults],
        "warnings": [{"what": warning.what, "where": warning.where, "mend": warning.mend} for warning in found.warnings],
        "servers": [{"name": server.name, "type": server.type, "folder": server.folder} for server in found.servers],
        "models": models_asked(found.servers),
        "skipped": [{"name": server.name, "type": server.type, "folder": server.folder} for server in found.skipped],
        "datasets": [{"name": data.name, "agent": data.agent, "path": str(data.path)} for data in found.datasets],
    }


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
