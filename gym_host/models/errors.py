# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of a model server.

```
GymError
├── RequestError         the request itself cannot be read or carried over to chat completions
└── EndpointError
    └── ChatError        one chat call failed for good; knows the raw answer and what was really sent
```
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_host.errors import EndpointError, GymError


class RequestError(GymError):
    """A request to a model server that cannot be read or translated.

    Args:
        message: What is wrong with it.
        field: Where, as a path into the body: `input[2].content`.
    """

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.message, self.field = message, field

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class ChatError(EndpointError):
    """A chat call failed for good.

    Args:
        message: The provider's own words where it gave any, never a key.
        kind: As in `EndpointError`.
        status: HTTP status, or the code inside an error body, if there was one.
        attempts: How many requests were sent.
        detail: The raw answer, bounded, without keys; empty when there was no answer.
        sent: Parameters as really sent where that differs from what was asked; None means left out.
        of_setup: Whether it looks as if every other call would meet it too: a refusal for the address, the key, the model or a
            parameter. Some endpoints refuse what was said in one conversation in the same way (403).
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        status: int | None,
        attempts: int,
        detail: str = "",
        sent: Mapping[str, Any] | None = None,
        of_setup: bool = False,
    ) -> None:
        super().__init__(message, kind=kind, status=status, attempts=attempts)
        self.detail = detail
        self.sent = dict(sent or {})
        self.of_setup = of_setup
