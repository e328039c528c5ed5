# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the host asks for to show a run of this server: thin functions, one for each view."""

from __future__ import annotations

from vera_mh.models import Json
from vera_mh.usage import Usage, usage_of_run


def meter(record: Json) -> Usage:
    """Adds up what the calls of a run took, from its record (`x_run.json`)."""
    return usage_of_run(record)
