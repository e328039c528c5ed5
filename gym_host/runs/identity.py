# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What makes a run this run: the identity that a resume is held against."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gym_host.config.configuration import Instance
from gym_host.config.containers import differences
from gym_host.config.masking import masked
from gym_host.config.request_params import PARAMS
from gym_host.errors import OutputError, ServerError
from gym_host.jsonl import Json
from gym_host.serving.calls import ServerCalls
from gym_host.serving.local import load_program

_OF_REQUESTS = frozenset({"adaptable_parameters", "base_url", "default_headers", "extra_body", "model", PARAMS})


async def run_identity(rows: Json, agent: str, instances: Iterable[Instance], calls: ServerCalls) -> Json:
    """What makes a run this run: the rows, the settings of every server, and what each server says of itself.

    Args:
        rows: The rows as dispatched, as `gym_host.runs.tasks.described` says.
        agent: Name of the agent instance.
        instances: The servers that take part.
        calls: Calls to them.
    """
    servers = {}
    for instance in instances:
        left_out = load_program(instance).settings_type.NOT_IDENTITY
        settings = {key: value for key, value in instance.settings.items() if key not in left_out}
        servers[instance.name] = {"server": f"{instance.type}/{instance.folder}", "settings": masked(settings)}
        about = await _about(instance.name, calls)
        if about:
            servers[instance.name]["about"] = about
    return {"agent": agent, "rows": rows, "servers": servers}


async def _about(name: str, calls: ServerCalls) -> Any:
    try:
        answer = await calls.call(name, "/")
    except ServerError:
        return None
    return answer.get("about") if isinstance(answer, dict) else None


def refuse_other_run(
    found: Mapping[str, Any],
    wanted: Mapping[str, Any],
    *,
    where: str,
    what: str = "this is the output of another run",
    mend: str = "give the same settings as before, or choose another --output",
    requests_of: Collection[str] = (),
) -> None:
    """Refuses to go on with files of another run.

    Args:
        found: The identity of the files.
        wanted: The identity of the run that is to be done.
        where: The file that says so.
        what: What is wrong if they differ.
        mend: What to do about it.
        requests_of: Names of servers that may ask another model, elsewhere, or for something else.

    Raises:
        OutputError: The identities differ; the message names what differs, at most five keys.
    """
    differing = [entry for entry in differences(found, wanted) if not _tells_of_requests(entry[0], requests_of)]
    if not differing:
        return
    shown = "; ".join(f"{key} was {_short(was)}, now {_short(now)}" for key, was, now in differing[:5])
    more = f" (and {len(differing) - 5} more)" if len(differing) > 5 else ""
    raise OutputError(
        f"{what}: {shown}{more}",
        where=where,
        mend=mend,
    )


def _tells_of_requests(key: str, servers: Collection[str]) -> bool:
    """Whether a setting says which model is asked, where, or for what: an endpoint may refuse it, and then it must be mended."""
    place = next((key.removeprefix(begins) for name in servers if key.startswith(begins := f"servers.{name}.settings.")), None)
    return place is not None and any(part in _OF_REQUESTS or part.endswith("_request") for part in place.split("."))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
