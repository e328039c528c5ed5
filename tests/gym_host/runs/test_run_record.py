# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the record of a run tells."""

from __future__ import annotations

from typing import Any

import pytest

from gym_host.runs.run_record import RunRecord

WHOLE: dict[str, Any] = {
    "identity": {
        "agent": "sums",
        "servers": {
            "sums": {"settings": {"model_server": {"type": "responses_api_models", "name": "policy"}}},
            "policy": {"settings": {"model": "adder"}},
        },
    },
    "counts": {"planned": 3, "failed": {"timeout": 1}},
    "versions": {"python": "3.12"},
}


def test_a_record_tells_who_ran_what_and_what_came_of_it():
    record = RunRecord(WHOLE)
    assert (record.agent, record.evaluated_server, record.evaluated_model) == ("sums", "policy", "adder")
    assert (list(record.servers), record.settings("policy")) == (["sums", "policy"], {"model": "adder"})
    assert (record.planned, record.failed, record.versions) == (3, {"timeout": 1}, {"python": "3.12"})


@pytest.mark.parametrize("value", [None, [], "text", 3])
@pytest.mark.parametrize(
    "path", [(), ("identity",), ("identity", "servers"), ("identity", "servers", "sums"), ("identity", "agent")]
)
def test_what_is_missing_or_something_else_is_empty_and_no_fault(path: tuple[str, ...], value: Any):
    content: Any = value
    for name in reversed(path):
        content = {name: content}
    record = RunRecord({"counts": value, "versions": value} | (content if path else {}))
    assert (record.evaluated_server, record.evaluated_model, record.settings("sums")) == (None, "", {})
    assert (record.planned, record.failed, record.versions) == (None, {}, {})
