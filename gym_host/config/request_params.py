# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`responses_create_params`: what a row, the configuration or a flag asks of a model, besides the conversation.

A model server sends on what it does not know, and few endpoints complain, so that a misspelled parameter would change nothing
without a word. What only one kind of endpoint takes is set in `extra_body` of its model server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from gym_host.config.containers import Keys, children, dotted
from gym_host.config.interpolation import MISSING
from gym_host.errors import ConfigError
from gym_host.wording import nearest, printable

PARAMS = "responses_create_params"
"""The key, of a row and of the configuration."""

_ROLES = ("assistant", "developer", "system", "user")
_SHOWN = 60


class RequestParams(BaseModel):
    """Parameters of the Responses API, of chat completions, and those that many endpoints take besides. Null is as if not set."""

    model_config = ConfigDict(extra="forbid", strict=True)

    background: bool | None = None
    context_management: Any = None
    conversation: Any = None
    include: list[str] | None = None
    input: Any = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, Any] | None = None
    model: str | None = None
    moderation: Any = None
    parallel_tool_calls: bool | None = None
    previous_response_id: str | None = None
    prompt: Any = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    reasoning: dict[str, Any] | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    temperature: float | None = None
    text: dict[str, Any] | None = None
    tool_choice: Any = None
    tools: list[dict[str, Any]] | None = None
    top_logprobs: int | None = None
    top_p: float | None = None
    truncation: str | None = None
    user: str | None = None

    frequency_penalty: float | None = None
    logit_bias: dict[str, Any] | None = None
    logprobs: bool | int | None = None
    max_completion_tokens: int | None = None
    max_tokens: int | None = None
    n: int | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None
    response_format: dict[str, Any] | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    verbosity: str | None = None

    chat_template_kwargs: dict[str, Any] | None = None
    ignore_eos: bool | None = None
    length_penalty: float | None = None
    min_p: float | None = None
    min_tokens: int | None = None
    provider: Any = None
    repetition_penalty: float | None = None
    skip_special_tokens: bool | None = None
    stop_token_ids: list[int] | None = None
    thinking: Any = None
    top_k: int | None = None

    @field_validator("input")
    @classmethod
    def _a_text_or_items(cls, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, list):
            raise ValueError("it must be a text or a list of messages")
        for number, item in enumerate(value):
            _check_item(item, number)
        return value


PARAMETERS = frozenset(RequestParams.model_fields)


def param_faults(params: Any, where: str = PARAMS) -> list[ConfigError]:
    """What is wrong with the parameters of a request.

    Args:
        params: The parameters; `???` stands for a value that is not known yet, of which nothing is said.
        where: Where they stand.
    """
    if not isinstance(params, Mapping):
        return [] if params in (None, MISSING) else [ConfigError(f"`{PARAMS}` must be a mapping", where=where)]
    try:
        RequestParams.model_validate(dict(params))
    except ValidationError as error:
        wrong = {str(one["loc"][0]): one for one in reversed(error.errors(include_url=False))}
        return [
            _fault(name, one["type"], one["msg"], params[name], where)
            for name, one in reversed(wrong.items())
            if MISSING not in (one["input"], params[name])
        ]
    return []


def configured_param_faults(values: Any, path: Keys = ()) -> Iterator[ConfigError]:
    """What is wrong with the parameters that stand anywhere in a configuration."""
    for key, value in children(values):
        if key == PARAMS:
            yield from param_faults(value, dotted((*path, key)))
        else:
            yield from configured_param_faults(value, (*path, key))


def _fault(name: str, kind: str, message: str, value: Any, where: str) -> ConfigError:
    if kind == "extra_forbidden":
        close = nearest(name, PARAMETERS)
        extra = "what only this endpoint takes goes into `extra_body` of its model server"
        return ConfigError(
            f"there is no parameter `{name}`",
            where=f"{where}.{name}",
            mend=f"did you mean `{close}`? ({extra})" if close else extra,
        )
    shown = printable(repr(value), longest=_SHOWN)
    return ConfigError(
        f"the parameter `{name}` is wrong: {message.removeprefix('Value error, ')}",
        where=f"{where}.{name} = {shown}",
        mend=_mend(kind, value),
    )


def _mend(kind: str, value: Any) -> str | None:
    """What makes a value of another kind out of one that was written as it would be read."""
    if isinstance(value, str) and kind in ("float_type", "int_type", "bool_type"):
        return "write it without quotes; what ${oc.env:NAME} reads is text, which ${oc.decode:${oc.env:NAME}} turns into a number"
    if kind == "string_type" and isinstance(value, int | float):
        return f"put it in quotes: '\"{value}\"'"
    return None


def _check_item(item: Any, number: int) -> None:
    if not isinstance(item, Mapping):
        raise ValueError(f"item {number} is no message")
    if item.get("type") not in (None, "message"):
        return  # Calls of tools and what came of them: of these the model server knows more.
    role = item.get("role")
    if role not in _ROLES:
        meant = nearest(role, _ROLES) if isinstance(role, str) else None
        known = f"did you mean {meant!r}?" if meant else f"known are {', '.join(_ROLES)}"
        raise ValueError(f"item {number} has the role {role!r}; {known}")
    if not isinstance(item.get("content"), str | list):
        raise ValueError(f"item {number} has no content")
