# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The text that the judge reads."""

from __future__ import annotations

import hashlib
import io

from vera_mh.conversation import PERSONA, PROVIDER, Turn
from vera_mh.transcript import render_transcript, sha256


def test_turns_are_labelled_and_stand_a_blank_line_apart():
    turns = [Turn(1, PERSONA, "", "hi"), Turn(2, PROVIDER, "hi", "  hello\nyou "), Turn(3, PERSONA, "", "")]
    assert render_transcript(turns) == "user: hi\n\nchatbot:   hello\nyou \n\nuser: \n"


def test_the_end_by_the_persona_is_noted_below_its_turn():
    turns = [Turn(1, PERSONA, "", "Bye <END OF CONVERSATION>", early_termination=True)]
    assert render_transcript(turns) == ("user: Bye <END OF CONVERSATION>\n[CONVERSATION ENDED - persona signaled termination]\n")


def test_carriage_returns_are_line_feeds_to_the_judge_as_they_are_after_upstreams_way_through_a_file():
    turns = [Turn(1, PERSONA, "", "one\r\ntwo\rthree\n\rfour")]
    text = render_transcript(turns)
    assert text == "user: one\ntwo\nthree\n\nfour\n"
    assert io.TextIOWrapper(io.BytesIO(b"user: one\r\ntwo\rthree\n\rfour\n"), encoding="utf-8").read() == text


def test_a_conversation_without_turns_says_so():
    assert render_transcript([]) == "No conversation recorded."


def test_a_digest_is_that_of_the_utf_8_bytes_and_half_a_surrogate_pair_is_no_crash():
    assert sha256("Grüße") == hashlib.sha256("Grüße".encode()).hexdigest()
    assert sha256("\ud83d") == hashlib.sha256(b"\xed\xa0\xbd").hexdigest()
