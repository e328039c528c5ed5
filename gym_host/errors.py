# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the host.

```
GymError
├── UserError            a fault that the user can mend: printed in one to three lines, exit 2
│   ├── ConfigError      a configuration key, file or reference
│   └── OutputError      an output file that is in the way, torn, locked, full or not ours
├── ServerError          another server answered with an error, or not at all
└── EndpointError        a model endpoint failed for good, after the retries
```
"""

from __future__ import annotations

from typing import Any


class GymError(Exception):
    """Base of all errors that the host raises on purpose."""


class UserError(GymError):
    """A fault that the user can mend.

    Args:
        what: What happened, in a plain sentence.
        where: File, line, key or flag, if there is one.
        mend: What to do about it.
    """

    def __init__(self, what: str, *, where: str | None = None, mend: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.mend = what, where, mend

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.mend:
            lines.append(f"  to mend it: {self.mend}")
        return "\n".join(lines)


class ConfigError(UserError):
    """A configuration key, file or reference is wrong or missing."""


class OutputError(UserError):
    """An output file cannot be used as asked, and was left as it is."""


class ServerError(GymError):
    """A call to another server failed.

    Args:
        server: Name of the server instance that was called.
        path: Path of the endpoint.
        status: HTTP status, or None if there was no answer.
        message: What the server said.
        body: The decoded error body, if there was one.
    """

    def __init__(self, server: str, path: str, status: int | None, message: str, body: Any = None) -> None:
        super().__init__(message)
        self.server, self.path, self.status, self.message, self.body = server, path, status, message, body

    def __str__(self) -> str:
        status = "no answer" if self.status is None else f"HTTP {self.status}"
        return f"{self.server}{self.path}: {status}: {self.message}"


class EndpointError(GymError):
    """A model endpoint failed for good.

    Args:
        message: The provider's own words where it gave any, never a key.
        kind: One of `timeout`, `connection`, `rate_limited`, `server`, `refused`, `invalid_reply`.
        status: HTTP status, or the code inside an error body, if there was one.
        attempts: How many requests were sent.
    """

    def __init__(self, message: str, *, kind: str, status: int | None = None, attempts: int = 1) -> None:
        super().__init__(message)
        self.message, self.kind, self.status, self.attempts = message, kind, status, attempts
