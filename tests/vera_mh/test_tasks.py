# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the benchmark."""

from __future__ import annotations

import hashlib
import json

from tests.support.demo import demo_pack
from vera_mh.pack import PERSONAS, VERA_MH
from vera_mh.tasks import DEFAULT_SYSTEM_PROMPT, ROWS_SHA256, UserSimulator, benchmark_rows, row_line


def test_the_200_rows_are_byte_for_byte_the_published_ones(pack):
    lines = [row_line(row) for row in benchmark_rows(pack, prefix="vera_mh")]
    assert len(lines) == 200
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == ROWS_SHA256
    assert ROWS_SHA256 == "79e5f942506b4689adbe64f9df27779a84f22766fea1fe46bc34c729e5ce3f04"


def test_each_persona_meets_both_simulators_in_the_order_of_the_sheet(pack):
    rows = list(benchmark_rows(pack, prefix="vera_mh"))
    assert [row["persona_index"] for row in rows] == [index for index in range(1, 101) for _ in range(2)]
    simulators = [(row["user_simulator"], row["user_simulator_upstream_model"]) for row in rows[:2]]
    assert simulators == [("gpt-5.2", "gpt-5.2"), ("claude-opus-4-5", "claude-opus-4-5-20251101")]
    assert rows[0]["id"] == f"vera_mh__{rows[0]['persona_name']}__gpt-5.2"
    assert len({row["id"] for row in rows}) == 200
    assert {row["max_turns"] for row in rows} == {30}
    assert rows[0]["upstream"] == {
        "license": "Other (Spring Care, Inc. VERA-MH license; see resources_servers/vera_mh/rubric/LICENSE)",
        "personas_sha256": VERA_MH.sha256[PERSONAS],
        "repository": "SpringCare/VERA-MH",
        "revision": "2c9d1fcbb68e1a2df64171c18b3e4d4c18b2f89e",
        "rubric_tag": "v1.2.0",
    }


def test_rows_of_another_pack_carry_its_name_revision_turns_and_licence():
    pack = demo_pack()
    row = next(benchmark_rows(pack, prefix="demo", simulators=[UserSimulator("s", "m")], max_turns=7))
    assert (row["id"], row["max_turns"], row["user_simulator_upstream_model"]) == ("demo__Mara__s", 7, "m")
    assert row["upstream"] == {
        "license": "see the LICENSE of the pack",
        "personas_sha256": pack.manifest.sha256[PERSONAS],
        "repository": "vera-mh-gym",
        "revision": "demo-1",
        "rubric_tag": "demo-1",
    }
    assert row["responses_create_params"] == {"input": [{"role": "system", "content": "You are a helpful AI assistant."}]}


def test_a_line_is_sorted_unescaped_json():
    assert row_line({"b": "Grüße", "a": 1}) == '{"a": 1, "b": "Grüße"}\n'
    assert json.loads(row_line({"a": "\u2028\n"})) == {"a": "\u2028\n"}


def test_the_default_system_prompt_is_that_of_upstream():
    assert DEFAULT_SYSTEM_PROMPT == "You are a helpful AI assistant."
