# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How token usage is summed."""

from __future__ import annotations

import pytest

from vera_mh.usage import add_usage


def test_usage_is_summed_with_its_nested_details():
    assert add_usage(
        [
            {"input_tokens": 1, "details": {"cached": 1, "audio": None}},
            {"input_tokens": 2, "details": {"cached": 2}, "cost": 0.5, "tier": "default", "byok": False},
        ]
    ) == {"input_tokens": 3, "details": {"cached": 3}, "cost": 0.5}


@pytest.mark.parametrize("usages", [[], [None], [{}], [{"input_tokens": None}, None], [{"details": {"cached": None}}]])
def test_usage_of_which_nothing_is_known_is_none(usages):
    assert add_usage(usages) is None


def test_an_unknown_usage_among_known_ones_takes_nothing_away():
    first = {"details": {"cached": 1}}
    assert add_usage([None, first, {"details": None}, None, {"details": {"cached": 1}}]) == {"details": {"cached": 2}}
    assert first == {"details": {"cached": 1}}
