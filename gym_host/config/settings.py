# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a server: what every server's block may have, and faults in a block in the user's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from gym_host.config.masking import masked
from gym_host.errors import ConfigError
from gym_host.wording import suggestion, together

Settings = TypeVar("Settings", bound=BaseModel)

_SHOWN = 60


class ServerRef(BaseModel):
    """A reference to another server instance, e.g. `{type: responses_api_models, name: policy_model}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str
    name: str


class ServerSettings(BaseModel):
    """What NeMo Gym's hosts put or read in any server's block. A server's own settings extend it.

    Args:
        entrypoint: The program in the server's folder.
        host: Where it listens; the host of the run fills it in.
        port: Where it listens; the host of the run fills it in.
        max_body_mib: How large the body of a request may be, in MiB; 16 times as large where it holds the rows of a whole run.
        num_workers: How many processes serve it. Our host runs one for each server, which is enough for what waits for models.
        domain: What the environment measures, in NVIDIA's vocabulary.
        description: For lists of environments.
        value: What the environment is good for, for lists of environments.
        verified: Whether NVIDIA has verified it by a training run.
        verified_url: The evidence.
        datasets: Its data, as `{name, type, jsonl_fpath, ...}`.
        allowed_agents: The only agents that fit this resources server.
        allowed_model_types: The only model types that fit this resources server.
    """

    model_config = ConfigDict(extra="forbid")

    NOT_IDENTITY: ClassVar[frozenset[str]] = frozenset(
        {
            "allowed_agents",
            "allowed_model_types",
            "datasets",
            "description",
            "domain",
            "host",
            "max_body_mib",
            "num_workers",
            "port",
            "value",
            "verified",
            "verified_url",
        }
    )
    """Settings that change how fast, where or how patiently a server works, not what comes out; a run may go on with others."""

    entrypoint: str = "app.py"
    host: str | None = None
    port: int | None = None
    max_body_mib: int = Field(256, ge=1)
    num_workers: int | None = None
    domain: str | None = None
    description: str | None = None
    value: str | None = None
    verified: bool | None = None
    verified_url: str | None = None
    datasets: list[dict[str, Any]] = []
    allowed_agents: list[str] | None = None
    allowed_model_types: list[str] | None = None


def parse_settings(model: type[Settings], settings: Mapping[str, Any], *, where: str) -> Settings:
    """The settings as a server wants them.

    Args:
        model: The settings class of the server.
        settings: The block of the configuration.
        where: Dotted place of the block, e.g. `vera_mh.resources_servers.vera_mh`.

    Raises:
        ConfigError: Keys are unknown, missing, or have the wrong kind of value. Each is named, with its place.
    """
    parsed, faults = check_settings(model, settings, where=where)
    if parsed is None:
        raise together(faults, f"settings of `{where}` are wrong")
    return parsed


def check_settings(
    model: type[Settings], settings: Mapping[str, Any], *, where: str, unknown: str | None = None
) -> tuple[Settings | None, list[ConfigError]]:
    """The settings as a server wants them, or all that is wrong with them.

    Args:
        model: The settings class of the server.
        settings: The block of the configuration.
        where: Dotted place of the block.
        unknown: What stands for a value that is not known yet: of such a value nothing is said.

    Returns:
        The settings, or None if there is anything amiss, and the faults.
    """
    try:
        return model.model_validate(dict(settings)), []
    except ValidationError as error:
        details = error.errors(include_url=False)
    # Worded outside of the handler: pydantic's own message shows the values, which may be secret.
    return None, [_fault(model, one, where) for one in details if unknown is None or one["input"] != unknown]


def _fault(model: type[BaseModel], details: ErrorDetails, where: str) -> ConfigError:
    path = details["loc"]
    place, key = ".".join(map(str, (where, *path))), str(path[-1]) if path else where
    if details["type"] == "extra_forbidden":
        return ConfigError(f"there is no setting `{key}`", where=place, mend=suggestion(key, _known_keys(model, path[:-1])))
    if details["type"] == "missing":
        return ConfigError(f"the setting `{key}` is missing", where=place)
    got = repr(_masked_at(path, details["input"]) if path else masked(details["input"]))
    got = got if len(got) <= _SHOWN else f"{got[:_SHOWN]}..."
    return ConfigError(f"the setting `{key}` is wrong: {details['msg'].removeprefix('Value error, ')}", where=f"{place} = {got}")


def _masked_at(path: Sequence[int | str], value: Any) -> Any:
    """A value without its secrets, as one that stands at this place: what holds it may say that it is one, as `headers` does."""
    tree = value
    for part in reversed(path):
        tree = {part: tree}
    tree = masked(tree)
    for part in path:
        tree = tree[part]
    return tree


def _known_keys(model: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """The keys of the settings class that a path leads to."""
    for part in path:
        field = next((field for name, field in model.model_fields.items() if part in (name, field.alias)), None)
        model = next(_models(field.annotation), model) if field is not None else model
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
