# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env start`: runs the servers of a configuration on ports. `gym env status`: says which are running."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import sys
from collections.abc import Coroutine
from typing import Any

import orjson

from gym_host.cli.columns import columns
from gym_host.cli.output import say_next, stderr_console, warn
from gym_host.cli.parser import Parser, add_config_flags, positive
from gym_host.cli.setup import Setup, load_setup
from gym_host.cli.streams import unread_output_forgiven
from gym_host.config.masking import secrets_in
from gym_host.config.references import check_references
from gym_host.errors import ConfigError
from gym_host.interrupts import INTERRUPTED, on_signals
from gym_host.serving.admission import server_token
from gym_host.serving.fleet import Fleet, ServerFailed, started
from gym_host.serving.head import HEAD_PORT, Head, head_running
from gym_host.serving.head_client import find_head, read_head, running_heads
from gym_host.serving.ports import Placement, place
from gym_host.serving.process import LOOPBACK, is_loopback, listening_socket, open_to_others
from gym_host.wording import together

READY_SECONDS = 120

_USE = "gym eval run --no-serve ... with the same configuration, or POST a row to /run of an agent"


def add_start_flags(parser: Parser) -> None:
    add_config_flags(parser)
    group = parser.add_argument_group("servers")
    group.add_argument("--host", default=LOOPBACK, metavar="HOST", help=f"where they listen (default: {LOOPBACK})")
    group.add_argument(
        "--head-port", type=positive, default=HEAD_PORT, metavar="PORT", help=f"port of the head server (default: {HEAD_PORT})"
    )
    group.add_argument(
        "--ready-timeout",
        type=positive,
        default=READY_SECONDS,
        metavar="SECONDS",
        help=f"how long to wait for them to answer (default: {READY_SECONDS})",
    )


def start(args: argparse.Namespace) -> int:
    """Runs servers until a signal stops them.

    Returns:
        0 if they were stopped when all were ready, 130 if they were stopped before, 1 if one ended by itself.

    Raises:
        UserError: They cannot be started so, or one does not come up.
    """
    setup = load_setup(args)
    warn(stderr_console(), setup.config.warnings)
    faults = check_references(setup.config, setup.components)
    if faults:
        raise together(faults, "references are wrong")
    instances = setup.config.instances(setup.components)
    if not instances:
        raise ConfigError("the configuration has no server that can be started", mend="name a benchmark with --benchmark")
    token = server_token(os.environ)
    listener = listening_socket(args.host, args.head_port, where="--head-port")
    try:
        placements = place(instances, host=args.host)
        _warn_if_open(args.host, placements, token)
        _warn_of_workers(placements)
        code = asyncio.run(_serve(setup, placements, listener, args.ready_timeout, token))
    finally:
        listener.close()
    if code:
        say_next(
            "run the same command again" if code == INTERRUPTED else "mend what ended the server, and run the same command again"
        )
    return code


async def _serve(
    setup: Setup, placements: list[Placement], listener: socket.socket, ready_seconds: float, token: str | None
) -> int:
    values = setup.config.values
    secrets = secrets_in(values) | ({token} if token else set())
    code = 0
    stop = asyncio.Event()
    with on_signals(stop.set):
        starting = started(values, placements, environ=os.environ, report=_report, secrets=secrets)
        async with starting as fleet, head_running(listener, fleet, values, token=token) as note:
            if await _unless(stop, fleet.become_ready(ready_seconds)):
                _show_ready(await read_head(note.url))
                code = await _watch(fleet, stop)
            else:
                code = INTERRUPTED
            _report("stopping the servers")
    _report("all servers are stopped")
    return code


async def _watch(fleet: Fleet, stop: asyncio.Event) -> int:
    try:
        await _unless(stop, fleet.first_end())
    except ServerFailed as failure:
        _report(f"error: {failure}")
        return 1
    return 0


async def _unless(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Waits for work to be done, unless it is stopped before; whether it was done."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
        return working.done()
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


def _warn_if_open(host: str, placements: list[Placement], token: str | None) -> None:
    reachable = sorted({open_to for open_to in [host, *(placed.host for placed in placements)] if not is_loopback(open_to)})
    if reachable:
        _report(open_to_others(reachable, token))


def _warn_of_workers(placements: list[Placement]) -> None:
    for placed in placements:
        if placed.instance.settings.get("num_workers") not in (None, 1):
            _report(f"note: `{placed.name}` runs as one process, though num_workers asks for more")


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _show_ready(head: Head) -> None:
    with unread_output_forgiven():  # The servers run on though nobody reads what is said of them.
        _show(head)
        print("stop them: Ctrl-C here")
        say_next(f"in another terminal: {_USE}")


def add_status_flags(parser: Parser) -> None:
    parser.add_argument("--head", metavar="URL", help="the head to ask (default: those that run on this machine)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def status(args: argparse.Namespace) -> int:
    """Prints which servers are running.

    Returns:
        0 if servers are running and ready, else 1.

    Raises:
        UserError: No head answers where `--head` says.
    """
    heads = asyncio.run(_heads(args.head))
    if args.json:
        print(orjson.dumps({"heads": [head.model_dump() for head in heads]}, option=orjson.OPT_INDENT_2).decode())
    elif not heads:
        print("no servers are running on this machine")
        say_next("gym env start --benchmark NAME starts some")
    else:
        for head in heads:
            _show(head)
        say_next(_USE if all(head.ready for head in heads) else "see why where `gym env start` runs: it prints what servers say")
    return 0 if heads and all(head.ready for head in heads) else 1


async def _heads(url: str | None) -> list[Head]:
    return [await find_head(url)] if url else await running_heads()


def _show(head: Head) -> None:
    print(f"head {head.url} (pid {head.pid}, since {head.started_at})")
    heading = ("server", "type", "folder", "address", "pid", "state")
    rows = [(server.name, server.type, server.folder, server.url, str(server.pid), server.state) for server in head.servers]
    print(columns([heading, *rows], indent="  "))
