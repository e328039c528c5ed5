# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The command in an empty folder, as the tests of the command have it."""

from __future__ import annotations

from tests.gym_host.cli.conftest import gym

__all__ = ["gym"]
