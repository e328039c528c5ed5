# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed: the name of this distribution and the versions of what decides and of what talks."""

from __future__ import annotations

import platform
from importlib import metadata

DISTRIBUTION = "vera-mh-gym"


def versions() -> dict[str, str]:
    """Versions of what decides and of what talks."""
    names = (DISTRIBUTION, "aiohttp", "fastapi", "pydantic", "orjson")
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
