# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What an endpoint answered: a usable chat completion, or a failure with its kind.

Providers report failures in many ways: by status, by an error body inside a 200, by an empty list of choices, by a
finish reason `error` beside half a sentence, by a page of HTML. All of them end as one `Failure` here, so that retrying is
decided in one place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson

_LARGEST_READ = 2**20
_LONGEST_MESSAGE = 2_000
_LONGEST_DETAIL = 4_000
_LONGEST_EXCERPT = 200

_RETRIED_STATUSES = frozenset({408, 409, 425, 429})
_TIMEOUT_STATUSES = frozenset({408, 504, 522, 524})
_STATUS_OF_WORD = {
    "authentication_error": 401,
    "context_length_exceeded": 400,
    "insufficient_quota": 402,
    "invalid_api_key": 401,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "server_error": 500,
    "timeout": 504,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one attempt gave no usable reply.

    Attributes:
        kind: As in `EndpointError`.
        message: The provider's own words, or ours if it said nothing.
        status: HTTP status, or the code inside an error body.
        retriable: Whether the same request may succeed later.
        detail: The raw answer, bounded.
        body: The decoded answer, if it was JSON.
        stale: The connection broke before anything was answered, as one that the server closed while idle does.
        wait: Seconds that the server asks to wait.
    """

    kind: str
    message: str
    status: int | None = None
    retriable: bool = True
    detail: str = ""
    body: Any = None
    stale: bool = False
    wait: float | None = None


def read_reply(
    status: int, raw: bytes, content_type: str, redact: Callable[[str], str] = lambda text: text
) -> dict[str, Any] | Failure:
    """Decode an answer and say whether it is a usable chat completion.

    Args:
        status: The HTTP status.
        raw: The body.
        content_type: Its declared type; named in the message only, since some servers declare JSON as text.
        redact: Takes the keys out of what is kept of a failure.

    Returns:
        The decoded body, untouched, or the failure.
    """
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        body = _loads_leniently(raw)
    succeeded = 200 <= status < 300
    if succeeded and _is_usable(body):
        return cast(dict[str, Any], body)
    detail = redact(raw[:_LARGEST_READ].decode("utf-8", "replace"))[:_LONGEST_DETAIL]
    failure = _from_body(body, detail, content_type) if succeeded else _from_status(status, body, detail)
    return replace(failure, message=redact(failure.message)[:_LONGEST_MESSAGE])


def refusal_error(body: Any) -> dict[str, Any]:
    """The error object of an answer, whichever of the usual places it stands in; empty if there is none."""
    if isinstance(body, list):  # Google's OpenAI-compatible route wraps the object in a list.
        body = body[0] if body else None
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    if isinstance(error, dict):
        return error
    if isinstance(error, str):
        return {**body, "message": error}
    return body


def _is_usable(body: Any) -> bool:
    if not isinstance(body, dict) or body.get("error"):
        return False
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return False
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict) or not isinstance(message.get("content"), str | list | None):
        return False
    return choice.get("finish_reason") != "error" and not choice.get("error")


def _from_status(status: int, body: Any, detail: str) -> Failure:
    error = refusal_error(body)
    message = _words(error) or _excerpt(detail) or f"HTTP {status} without a word"
    if error.get("code") == "insufficient_quota" or error.get("type") == "insufficient_quota":
        return Failure("refused", message, status, retriable=False, detail=detail, body=body)  # waiting does not pay a bill
    return _classified(status, message, detail, body)


def _from_body(body: Any, detail: str, content_type: str) -> Failure:
    """A failure that came with a status of success."""
    if not isinstance(body, dict):
        return Failure("invalid_reply", f"The answer is no JSON object ({content_type}): {_excerpt(detail)}", 200, detail=detail)
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    error = body.get("error") or choice.get("error")
    if error or choice.get("finish_reason") == "error":
        error = refusal_error({"error": error}) if error else {}
        message = _words(error) or "The generation ended with an error"
        return _classified(_status_in(error), message, detail, body)
    if "choices" in body or isinstance(body.get("usage"), dict):
        message = f"The answer holds no choice with a message: {_excerpt(detail)}"
        return Failure("invalid_reply", message, 200, detail=detail, body=body)
    message = _words(body) or f"The answer is no chat completion: {_excerpt(detail)}"
    status = _status_in(body)
    if status is None:
        return Failure("invalid_reply", message, 200, detail=detail, body=body)
    return _classified(status, message, detail, body)


def _classified(status: int | None, message: str, detail: str, body: Any) -> Failure:
    retriable = status is None or status >= 500 or status in _RETRIED_STATUSES
    if status in _TIMEOUT_STATUSES:
        kind = "timeout"
    elif status == 429:
        kind = "rate_limited"
    else:
        kind = "server" if retriable else "refused"
    return Failure(kind, message, status, retriable, detail, body)


def _status_in(error: dict[str, Any]) -> int | None:
    """The HTTP status that an error object speaks of, as a number or as a word."""
    for key in ("code", "status", "status_code", "type"):
        value = error.get(key)
        if isinstance(value, str):
            value = int(value) if value.isascii() and value.isdigit() else _STATUS_OF_WORD.get(value)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None


def _words(error: dict[str, Any]) -> str:
    """What the provider says in an error object, with what a provider behind it says."""
    said = next((error[key] for key in ("message", "detail", "msg", "error_description") if error.get(key)), "")
    if not isinstance(said, str):
        said = json.dumps(said, ensure_ascii=False)
    metadata = error.get("metadata")
    behind = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(behind, str) and behind and behind != said:
        said = f"{said}: {behind}"
    return said


def _excerpt(detail: str) -> str:
    line = " ".join(detail.split())
    return line if len(line) <= _LONGEST_EXCERPT else line[:_LONGEST_EXCERPT] + "..."


def _loads_leniently(raw: bytes) -> Any:
    """Decode what the strict decoder refuses but providers send: half an emoji where a reply was cut, or `NaN`."""
    try:
        return _mended(json.loads(raw))
    except (ValueError, RecursionError):
        return None


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(inner) for inner in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    return value
