# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is written down of a turn, and read back."""

from __future__ import annotations

import pytest

from vera_mh.errors import RowError
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Turn, conversation_from_json


def test_turns_are_read_as_they_were_written():
    turns = [Turn(1, PERSONA, START_PROMPT, "a"), Turn(2, PROVIDER, "a", ""), Turn(3, PERSONA, "", "<END OF CONVERSATION>", True)]
    assert conversation_from_json([turn.to_json() for turn in turns]) == turns
    assert turns[2].to_json() == {
        "turn": 3,
        "speaker": "persona",
        "input": "",
        "response": "<END OF CONVERSATION>",
        "early_termination": True,
        "logging": {},
    }


def test_turns_without_numbers_are_numbered():
    read = conversation_from_json([{"speaker": "persona", "response": "a"}, {"speaker": "provider", "response": "b"}])
    assert read == [Turn(1, PERSONA, "", "a"), Turn(2, PROVIDER, "", "b")]


@pytest.mark.parametrize(
    "record", [{}, "a", None, 5, ["a"], {"speaker": "user", "response": "a"}, {"speaker": "persona", "response": None}]
)
def test_a_record_that_is_no_turn_is_named_by_its_place(record):
    good = {"speaker": "persona", "response": "a"}
    with pytest.raises(RowError, match=r"conversation\[1\]: a turn has"):
        conversation_from_json([good, record])
