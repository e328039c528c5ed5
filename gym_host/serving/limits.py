# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Limits of the process that a large run needs raised."""

from __future__ import annotations

import resource
from contextlib import suppress

from gym_host.errors import UserError

_BESIDES_CONNECTIONS = 64
_MANY = 65_536


def raise_file_limit(connections: int) -> None:
    """Lets the process open so many connections at once, and as many more as the system allows.

    A server that asks ahead has more calls on their way than there are rollouts; how many, only its model servers limit.

    Args:
        connections: As many as are needed in any case.

    Raises:
        UserError: The system's own limit is too low for these.
    """
    allow_many_files()
    wanted = connections + _BESIDES_CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise UserError(
            f"{connections} connections at once need {wanted} open files, and this system allows {hard}",
            where="the limit on open files",
            mend="lower --concurrency, or raise the limit (ulimit -Hn)",
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def allow_many_files() -> None:
    """Lets the process open as many files and connections as the system allows it, up to what a server may need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MANY if hard == resource.RLIM_INFINITY else min(_MANY, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # Some systems allow less than they say.
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
