# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Fields of rows by name."""

from __future__ import annotations

from gym_host.runs.fields import project


def test_fields_that_are_not_there_are_left_out():
    source = {"a": {"b": {"c": 1, "d": 2}}, "e": None, "f": 3}
    assert project(source, ["a.b.c", "a.x.y", "e", "e.f", "f.g", "gone"]) == {"a": {"b": {"c": 1}}, "e": None}
