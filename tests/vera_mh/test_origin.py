# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Rows that say they are of a pack, held to it."""

from __future__ import annotations

import json

import pytest

from tests.support.demo import demo_pack
from vera_mh.origin import PackRows
from vera_mh.tasks import benchmark_rows, row_line


def test_every_row_that_a_pack_makes_is_what_it_says_it_is(pack):
    for one in (pack, demo_pack()):
        known = PackRows(one)
        rows = [json.loads(row_line(row)) for row in benchmark_rows(one, prefix="any")]
        assert rows
        assert [known.difference(row) for row in rows] == [None] * len(rows)


def test_what_a_row_leaves_out_is_not_held_against_it():
    row = next(benchmark_rows(demo_pack(), prefix="any"))
    kept = ("persona_name", "persona_system_prompt", "upstream")
    assert PackRows(demo_pack()).difference({key: row[key] for key in kept}) is None


@pytest.mark.parametrize("index", [[1], {}, "1", None, 99])
def test_a_row_whose_index_is_of_no_persona_is_told_so(index):
    row = {"persona_index": index, "upstream": {"revision": "demo-1"}}
    difference = PackRows(demo_pack()).difference(row)
    assert difference is not None
    assert "names no persona of it" in difference


@pytest.mark.parametrize("claim", [{"revision": "demo-1"}, {"personas_sha256": demo_pack().manifest.sha256["personas.tsv"]}])
def test_either_claim_holds_a_row_to_the_pack_and_the_differing_fields_are_named(claim):
    row = next(benchmark_rows(demo_pack(), prefix="any")) | {
        "upstream": claim,
        "risk_level": "High",
        "persona_system_prompt": "Hi.",
    }
    difference = PackRows(demo_pack()).difference(row)
    assert difference is not None
    assert "its persona Mara differs in `persona_system_prompt`, `risk_level`:" in difference
