# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How answers of models are read."""

from __future__ import annotations

import pytest

from tests.support.models import message, reasoning, refusal, response
from vera_mh.models import add_usage, incomplete_reason, is_incomplete, output_text


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], ""),
        ([message("a")], "a"),
        ([message(" a\n"), message("b ")], " a\nb "),
        ([reasoning("never said"), message("said")], "said"),
        ([reasoning("never said")], ""),
        ([refusal("I can't.")], "I can't."),
        ([{"role": "user", "content": "plain"}], "plain"),
        ([{"type": "message", "content": None}], ""),
        ([{"type": "message", "content": []}], ""),
        ([{"type": "message", "content": [{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}]}], "ab"),
        ([{"type": "function_call", "name": "f", "arguments": "{}", "content": "x"}], ""),
    ],
)
def test_the_text_is_that_of_the_messages_or_the_refusal_and_never_the_reasoning(items, text):
    assert output_text(items) == text


@pytest.mark.parametrize(
    ("more", "cut", "reason"),
    [
        ({}, False, None),
        ({"incomplete_details": None}, False, None),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, True, "max_output_tokens"),
        ({"status": "incomplete", "incomplete_details": None}, True, None),
        ({"incomplete_details": {"reason": "content_filter"}}, True, "content_filter"),
    ],
)
def test_a_response_is_incomplete_by_its_status_or_its_details(more, cut, reason):
    assert (is_incomplete(response(**more)), incomplete_reason(response(**more))) == (cut, reason)


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
