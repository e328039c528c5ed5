# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How a command finds the servers that run already: by their head."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from pydantic import ValidationError

from gym_host.config.configuration import Config, Instance
from gym_host.config.containers import differences
from gym_host.config.masking import MASK, masked
from gym_host.errors import ConfigError, ServerError, UserError
from gym_host.serving.admission import TOKEN_VARIABLE, server_token
from gym_host.serving.calls import HttpCalls
from gym_host.serving.head import Head
from gym_host.serving.head_notes import forget, read_notes
from gym_host.serving.local import load_program
from gym_host.wording import suggestion, together

_ANSWER_SECONDS = 10.0


async def read_head(url: str) -> Head:
    """Asks a head.

    Raises:
        ServerError: Nothing answers there, or it is no head.
    """
    answer = await _ask(url, "/servers")
    try:
        return Head.model_validate(answer)
    except ValidationError:
        raise ServerError("head", "/servers", 200, f"what answers at {url} is no head of `gym env start`") from None


async def running_heads() -> list[Head]:
    """The heads of this user on this machine.

    Raises:
        UserError: There are some, and none lets the command in.
    """
    heads, refusal = [], None
    for note in read_notes():
        try:
            head = await read_head(note.url)
        except ServerError as error:
            refusal = refusal or _asks_for_a_token(note.url, error)
            continue
        if head.pid == note.pid:
            heads.append(head)
        else:
            forget(note)  # Another process has been given the number of the one that is gone.
    if refusal is not None and not heads:
        raise refusal
    return heads


def _asks_for_a_token(url: str, error: ServerError) -> UserError | None:
    """What is to be done about a head that does not let the command in; None if it failed otherwise."""
    if error.status != 401:
        return None
    mend = f"set {TOKEN_VARIABLE} to the token that its servers were started with"
    asks = "asks for another token than the one that is set" if server_token(os.environ) else "asks for a token"
    return UserError(f"the head at {url} {asks}", where=f"environment variable {TOKEN_VARIABLE}", mend=mend)


async def find_head(url: str | None) -> Head:
    """The head of a URL, or the only one that runs on this machine.

    Raises:
        UserError: There is none, or it has to be named.
    """
    if url is not None:
        try:
            return await read_head(url.rstrip("/"))
        except ServerError as error:
            if refusal := _asks_for_a_token(url, error):
                raise refusal from None
            raise UserError(error.message, where="--head", mend="name the URL that `gym env start` has printed") from None
    heads = await running_heads()
    if not heads:
        raise UserError(
            "no servers are running on this machine", mend="start them with `gym env start`, or name their head with --head URL"
        )
    if len(heads) > 1:
        raise UserError(
            f"more than one head is running: {', '.join(head.url for head in heads)}", mend="name one of them with --head URL"
        )
    return heads[0]


async def config_of(head: Head) -> Config:
    """The configuration that running servers were started with; its secrets are masked.

    Raises:
        ServerError: The head does not answer.
    """
    values = await _ask(head.url, "/config")
    return Config(values if isinstance(values, dict) else {}, ())


@asynccontextmanager
async def running_servers(head_url: str | None, needed: Iterable[Instance] = ()) -> AsyncIterator[HttpCalls]:
    """Calls to servers that run already.

    Args:
        head_url: Address of their head; None for the only one on this machine.
        needed: The instances that the run needs, with their settings.

    Raises:
        UserError: There is no head, or a server that is needed does not run as the configuration says.
    """
    head = await find_head(head_url)
    faults = unfit(head, await config_of(head), needed)
    if faults:
        raise together(faults, "servers do not run as the configuration says")
    calls = HttpCalls({server.name: server.url for server in head.servers}, token=server_token(os.environ))
    try:
        yield calls
    finally:
        await calls.aclose()


def unfit(head: Head, config: Config, needed: Iterable[Instance]) -> list[ConfigError]:
    """In what running servers are not those that a run needs.

    Args:
        head: The head of the running servers.
        config: What they were started with, from `config_of`.
        needed: The instances that the run needs.

    Returns:
        A fault for each that does not run, is not ready, or was started with other settings.
    """
    running = {server.name: server for server in head.servers}
    faults = []
    for instance in needed:
        server = running.get(instance.name)
        if server is None:
            mend = suggestion(instance.name, running)
            faults.append(ConfigError(f"the server `{instance.name}` is not running", where=head.url, mend=mend))
        elif server.state != "ready":
            faults.append(ConfigError(f"the server `{instance.name}` is not ready: {server.state}", where=head.url))
        else:
            faults.extend(_other_settings(instance, config))
    return faults


def _other_settings(instance: Instance, config: Config) -> list[ConfigError]:
    left_out = load_program(instance).settings_type.NOT_IDENTITY
    block = config.values.get(instance.name)
    wanted = {instance.type: {instance.folder: _without(left_out, instance.settings)}}
    found = {
        kind: {name: _without(left_out, settings) for name, settings in folders.items()}
        for kind, folders in (block or {}).items()
    }
    # What is masked cannot be compared.
    differing = [entry for entry in differences(found, masked(wanted)) if MASK not in str(entry[1])]
    if not differing:
        return []
    key, was, now = differing[0]
    return [
        ConfigError(
            f"the server `{instance.name}` was started with other settings: {key} is {was!r} there, and here {now!r}",
            where=instance.name,
            mend="start the servers again, or give the same configuration",
        )
    ]


def _without(left_out: Collection[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide what comes out: a run may go on with other prices, limits of size, or patience."""
    return {key: value for key, value in settings.items() if key not in left_out}


async def _ask(url: str, path: str) -> Any:
    calls = HttpCalls({"head": url}, timeout_seconds=_ANSWER_SECONDS, token=server_token(os.environ))
    try:
        return await calls.call("head", path)
    finally:
        await calls.aclose()
