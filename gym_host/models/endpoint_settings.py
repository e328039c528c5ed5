# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of one OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from gym_host.errors import ConfigError
from gym_host.models.redaction import safe_url

_ROUTE = "/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EndpointSettings:
    """Where an endpoint is and how to call it.

    Attributes:
        base_url: The URL up to `/chat/completions`; a query string is kept, `user:password@` becomes basic authorization.
        model: The model's name as the endpoint knows it.
        api_key: Sent as `Authorization: Bearer`; nothing is sent when it is empty.
        default_headers: Sent with every request; they win over the headers made here.
        extra_body: Merged into every body; it wins over what the request says.
        num_concurrent_requests: How many calls may be in progress at once; the connection pool has this size.
        request_timeout_seconds: For one attempt, from connecting to the last byte.
        connect_timeout_seconds: For looking up the name and connecting.
        max_attempts: How many requests may fail before the call fails.
        retry_after_cap_seconds: The longest wait that a server may ask for; the call fails at once if it asks for more.
        backoff_base_seconds: The wait after the first failure; it doubles with each further one.
        backoff_max_seconds: The longest such wait.
    """

    base_url: str
    model: str
    api_key: str = ""
    default_headers: Mapping[str, str] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    num_concurrent_requests: int = 1000
    request_timeout_seconds: float = 600.0
    connect_timeout_seconds: float = 10.0
    max_attempts: int = 5
    retry_after_cap_seconds: float = 60.0
    backoff_base_seconds: float = 0.5
    backoff_max_seconds: float = 30.0

    def __post_init__(self) -> None:
        """Refuse what could only fail later, at the first request.

        Raises:
            ConfigError: If the URL, the key, the model or a header cannot be used.
        """
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            usable = False
        if not usable:
            shown = safe_url(self.base_url) or "(empty)"
            raise ConfigError(f"This is no URL of an endpoint: {shown}", where="base_url", mend="Set it to http(s)://host/v1.")
        if not self.model:
            raise ConfigError("The model has no name", where="model", mend="Name the model as the endpoint knows it.")
        if _has_control_characters(self.api_key.strip()):
            raise ConfigError("The key holds a line break or another control character", where="api_key")
        for name, value in self.default_headers.items():
            if _has_control_characters(name + value):
                raise ConfigError("A header holds a line break or another control character", where=f"default_headers.{name!r}")
        for name in ("num_concurrent_requests", "max_attempts", "request_timeout_seconds", "connect_timeout_seconds"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} is {getattr(self, name)}", where=name, mend="Set it above 0.")

    def __repr__(self) -> str:
        return f"EndpointSettings(base_url={safe_url(self.base_url)!r}, model={self.model!r})"

    @property
    def url(self) -> str:
        """The URL that requests go to, without `user:password@`."""
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/")
        if not path.endswith(_ROUTE):
            path += _ROUTE
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], path=path, fragment="").geturl()


def _has_control_characters(text: str) -> bool:
    return any(character < " " or character == "\x7f" for character in text)
