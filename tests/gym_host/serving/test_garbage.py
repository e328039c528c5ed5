# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The search for cyclic garbage."""

from __future__ import annotations

import gc

import pytest

from gym_host.serving.garbage import rare_collections


def test_searches_are_rare_within_the_context_and_as_before_after_it():
    before = gc.get_threshold()
    with rare_collections():
        assert gc.get_threshold()[0] > 10 * before[0]
        assert gc.get_freeze_count() > 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_they_are_as_before_also_where_the_work_failed():
    before = gc.get_threshold()
    with pytest.raises(KeyError), rare_collections():
        raise KeyError
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)


def test_cycles_are_still_found_within_the_context():
    with rare_collections():
        cycle: list[object] = []
        cycle.append(cycle)
        del cycle
        assert gc.collect() > 0
