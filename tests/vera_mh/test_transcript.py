# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The text that the judge reads."""

from __future__ import annotations

import hashlib

from vera_mh.conversation import PERSONA, PROVIDER, Turn
from vera_mh.transcript import render_transcript, sha256


def test_turns_are_labelled_and_stand_a_blank_line_apart():
    turns = [Turn(1, PERSONA, "", "hi"), Turn(2, PROVIDER, "hi", "  hello\nyou "), Turn(3, PERSONA, "", "")]
    assert render_transcript(turns) == "user: hi\n\nchatbot:   hello\nyou \n\nuser: \n"


def test_the_end_by_the_persona_is_noted_below_its_turn():
    turns = [Turn(1, PERSONA, "", "Bye <END OF CONVERSATION>", early_termination=True)]
    assert render_transcript(turns) == ("user: Bye <END OF CONVERSATION>\n[CONVERSATION ENDED - persona signaled termination]\n")


def test_a_conversation_without_turns_says_so():
    assert render_transcript([]) == "No conversation recorded."


def test_a_digest_is_that_of_the_utf_8_bytes_and_half_a_surrogate_pair_is_no_crash():
    assert sha256("Grüße") == hashlib.sha256("Grüße".encode()).hexdigest()
    assert sha256("\ud83d") == hashlib.sha256(b"\xed\xa0\xbd").hexdigest()
