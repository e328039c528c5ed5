# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The text that the judge reads."""

from __future__ import annotations

import hashlib
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vera_mh.errors import TranscriptError
from vera_mh.transcript import ENDED_BY_PERSONA, parse_transcript, render_transcript, sha256
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Turn


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


# Reading

LINES = st.one_of(
    st.sampled_from(
        ["", " ", "hello", "user: x", "user:", "chatbot: y", "User: x", "assistant: z", " user: x", "a user: b", "\r"]
    ),
    st.sampled_from([ENDED_BY_PERSONA, "ein Gruß 🌻", "user:x", "line\u2028separator", "tab\t", "\x0b\x0c\x85"]),
    st.text(max_size=8),
)
LABEL_LIKE = re.compile(r"(user|chatbot|assistant):", re.IGNORECASE)
REPLIES = st.lists(LINES, max_size=5).map("\n".join)


def conversation(replies: list[str], *, first: str = PERSONA, ended: bool = False) -> list[Turn]:
    """Turns of the two sides by turns."""
    sides = (PERSONA, PROVIDER) if first == PERSONA else (PROVIDER, PERSONA)
    turns: list[Turn] = []
    for number, reply in enumerate(replies):
        early = ended and number == len(replies) - 1 and sides[number % 2] == PERSONA
        turns.append(Turn(number + 1, sides[number % 2], turns[-1].response if turns else START_PROMPT, reply, early))
    return turns


def read_or_doubt(text: str) -> tuple[list[Turn], TranscriptError | None]:
    """The turns of a text, or why it is not read."""
    try:
        return parse_transcript(text), None
    except TranscriptError as error:
        return [], error


CONVERSATIONS = st.builds(
    conversation, st.lists(REPLIES, min_size=1, max_size=5), first=st.sampled_from([PERSONA, PROVIDER]), ended=st.booleans()
)


@given(CONVERSATIONS)
@example(conversation(["", "", ""]))
@example(conversation(["a\n", "\nb\n\n", "c"], ended=True))
def test_what_was_read_written_again_is_the_same_text_or_the_line_that_leaves_a_doubt_is_named(turns: list[Turn]):
    text = render_transcript(turns)
    found, doubt = read_or_doubt(text)
    if doubt is None:
        assert render_transcript(found) == text
    else:
        assert doubt.ambiguous
        assert LABEL_LIKE.match(text.split("\n")[doubt.line - 1])


PLAIN_REPLIES = st.lists(
    LINES.filter(lambda line: not LABEL_LIKE.match(line) and line != ENDED_BY_PERSONA and not set("\r\n") & set(line)), max_size=5
).map("\n".join)


@given(st.lists(PLAIN_REPLIES, min_size=2, max_size=5), st.sampled_from([PERSONA, PROVIDER]), st.booleans())
def test_a_conversation_without_lines_that_look_like_a_turn_is_read_turn_by_turn(replies, first, ended):
    turns = conversation(replies, first=first, ended=ended)
    assert parse_transcript(render_transcript(turns)) == turns


@given(CONVERSATIONS)
@example(conversation(["\n\nuser:"], first=PROVIDER))
def test_lines_said_to_be_text_never_change_the_text_that_the_judge_reads(turns: list[Turn]):
    text = render_transcript(turns)
    assert render_transcript(parse_transcript(text, label_lines="text")) == text


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("user: hi\n\nchatbot: you said\nuser: hi\nto me\n", 4, "`user:` but has no blank line before it"),
        ("user: hi\nchatbot: hello\n", 2, "`chatbot:` but has no blank line before it"),
        ("user: hi\n\nuser: are you there?\n\nchatbot: yes\n", 3, "`user:` but is of the side that spoke before"),
        ("user: hi\n\nUser: hi\n", 3, "`User:` but is not how a transcript starts a turn"),
        ("user: hi\n\nassistant: hello\n", 3, "`assistant:` but is not how"),
        ("user: hi\n\nchatbot:hello\n", 3, "`chatbot:` but is not how"),
        ("user: hi\n\nchatbot:\n", 3, "`chatbot:` but is not how"),
        ("user: hi\n\nTherapist: hello\n\nuser: bye\n", 5, "`user:` but is of the side that spoke before"),
        ("user: hi\n\nTherapist: hello\n", 1, "only `user: ` speaks in it"),
        ("User: hi\n\nchatbot: hello\n", 1, "starts with `user: ` or `chatbot: `"),
    ],
)
def test_a_line_that_may_or_may_not_start_a_turn_is_refused_with_its_number(text, line, said):
    with pytest.raises(TranscriptError, match=re.escape(said)) as caught:
        parse_transcript(text)
    assert (caught.value.line, caught.value.ambiguous) == (line, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no conversation is recorded"),
        (" \n\n", "no conversation is recorded"),
        ("No conversation recorded.", "no conversation is recorded"),
        ("hello\n\nuser: hi\n", "starts with `user: `"),
        ("\nuser: hi\n", "starts with `user: `"),
    ],
)
def test_a_text_that_is_no_transcript_is_refused_and_no_way_to_read_it_would_help(text, said):
    for label_lines in ("refuse", "text", "turn"):
        with pytest.raises(TranscriptError, match=said) as caught:
            parse_transcript(text, label_lines=label_lines)
        assert (caught.value.line, caught.value.ambiguous) == (1, False)


def replies(turns: list[Turn]) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.response) for turn in turns]


def test_a_doubtful_line_is_text_or_a_turn_as_the_reader_says():
    text = "user: hi\n\nchatbot: you said\nuser: hi\n\nto me\n"
    assert replies(parse_transcript(text, label_lines="text")) == [(PERSONA, "hi"), (PROVIDER, "you said\nuser: hi\n\nto me")]
    assert replies(parse_transcript(text, label_lines="turn")) == [
        (PERSONA, "hi"),
        (PROVIDER, "you said"),
        (PERSONA, "hi\n\nto me"),
    ]


def test_said_to_be_turns_labels_in_any_case_and_without_blank_lines_are_read():
    text = "User: hi\nAssistant: hello\nUSER:bye"
    assert replies(parse_transcript(text, label_lines="turn")) == [(PERSONA, "hi"), (PROVIDER, "hello"), (PERSONA, "bye")]


def test_the_note_of_an_end_by_the_persona_is_its_end_only_below_a_turn_of_its_own():
    ended = parse_transcript(f"user: bye\n{ENDED_BY_PERSONA}\n")
    assert [(turn.response, turn.early_termination) for turn in ended] == [("bye", True)]
    quoted = parse_transcript(f"user: hi\n\nchatbot: look\n{ENDED_BY_PERSONA}\n")
    assert [turn.early_termination for turn in quoted] == [False, False]


def test_a_last_line_end_that_is_missing_does_no_harm():
    assert replies(parse_transcript("user: \n\nchatbot: hello")) == [(PERSONA, ""), (PROVIDER, "hello")]


def test_a_label_whose_blank_an_editor_cut_off_is_in_doubt():
    assert replies(parse_transcript("user: hi\n\nchatbot:\n", label_lines="turn")) == [(PERSONA, "hi"), (PROVIDER, "")]


def test_line_ends_of_other_systems_are_line_feeds():
    text = "user: hi\n\nchatbot: one\n\ntwo\n"
    assert parse_transcript(text.replace("\n", "\r\n")) == parse_transcript(text.replace("\n", "\r")) == parse_transcript(text)


def test_turns_know_what_they_answer():
    assert [turn.input for turn in parse_transcript("chatbot: hello\n\nuser: hi\n")] == [START_PROMPT, "hello"]
