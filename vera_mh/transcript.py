# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The transcript: the text that the judge reads, written from turns and read back into turns.

Writing reproduces upstream's `utils/conversation_utils.py` (`format_conversation_summary`) at the pinned commit, byte for byte,
and what its judge reads of it: upstream writes the text to a file and reads it back as text, by which every line end becomes a
line feed. Reading is its inverse: what was read, written again, is the same text. A text can be read in more than one way, since
a reply may hold a line that looks like the start of a turn; such a line is refused, unless the caller says what it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from vera_mh.errors import TranscriptError
from vera_mh.turns import PERSONA, PROVIDER, Speaker, Turn, next_input

NOTHING_RECORDED = "No conversation recorded."
ENDED_BY_PERSONA = "[CONVERSATION ENDED - persona signaled termination]"

LabelLines = Literal["refuse", "text", "turn"]
"""What a line is that looks like the start of a turn but does not stand where the next turn would: no guess, a part of the reply
above, or a turn."""

_LABEL_LIKE = re.compile(r"(user|chatbot|assistant):", re.IGNORECASE)
_LABELS: dict[str, Speaker] = {"user": PERSONA, "chatbot": PROVIDER, "assistant": PROVIDER}


def render_transcript(turns: Iterable[Turn]) -> str:
    """Writes the turns as the judge reads them: `user: ` or `chatbot: `, the reply, a blank line between turns.

    Replies stand there as received, but for carriage returns, which upstream's way through a file turns into line feeds.
    """
    blocks = [_block(turn) for turn in turns]
    return _with_line_feeds("\n".join(blocks)) if blocks else NOTHING_RECORDED


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _block(turn: Turn) -> str:
    label = "user" if turn.speaker == PERSONA else "chatbot"
    ending = f"{ENDED_BY_PERSONA}\n" if turn.early_termination else ""
    return f"{label}: {turn.response}\n{ending}"


@dataclass(frozen=True, slots=True)
class _Label:
    """A line that starts like a turn.

    Attributes:
        index: Index of the line.
        speaker: Who would speak.
        exact: Whether it is written as a transcript writes it: `user: ` or `chatbot: `.
        separated: Whether nothing or a blank line stands before it.
        reply: What follows the label in its line.
    """

    index: int
    speaker: Speaker
    exact: bool
    separated: bool
    reply: str


def parse_transcript(text: str, *, label_lines: LabelLines = "refuse") -> list[Turn]:
    """Reads a transcript as `render_transcript` writes it.

    A turn starts at `user: ` or `chatbot: ` below a blank line, where the other side spoke before. Any other line that starts
    with a speaker's name and a colon is ambiguous. Unless such lines are said to be turns, the turns written again are the same
    text, but for a missing line end of the last line; so the judge reads what was read.

    Args:
        text: The transcript. Its line ends are read as upstream reads them: each becomes a line feed.
        label_lines: What an ambiguous line is.

    Raises:
        TranscriptError: The text is no transcript, or holds an ambiguous line; the error has its number.
    """
    lines = _with_line_feeds(text).removesuffix("\n").split("\n")
    if not text.strip() or lines == [NOTHING_RECORDED]:
        raise TranscriptError("no conversation is recorded in it", line=1)
    starts = list(_starts(lines, label_lines))
    ends = [label.index for label in starts[1:]] + [len(lines)]
    turns: list[Turn] = []
    for label, end in zip(starts, ends, strict=True):
        last = end - 1 if end < len(lines) and lines[end - 1] == "" else end
        body = [label.reply, *lines[label.index + 1 : last]]
        ended = label.speaker == PERSONA and len(body) > 1 and body[-1] == ENDED_BY_PERSONA
        reply = "\n".join(body[:-1] if ended else body)
        turns.append(Turn(len(turns) + 1, label.speaker, next_input(turns), reply, ended))
    _check_sides(turns, label_lines)
    return turns


def _starts(lines: list[str], label_lines: LabelLines) -> Iterator[_Label]:
    """The labels that start a turn."""
    speaker: Speaker | None = None
    for label in _labels(lines):
        plain = label.exact and label.separated and label.speaker != speaker
        if speaker is None and (label.index or not (plain or label_lines == "turn")):
            break
        if not plain and label_lines == "refuse":
            raise TranscriptError(_ambiguity(label, lines), line=label.index + 1, ambiguous=True, mislabelled=not label.exact)
        if plain or label_lines == "turn":
            speaker = label.speaker
            yield label
    if speaker is None:
        like = _LABEL_LIKE.match(lines[0]) is not None
        raise TranscriptError("a transcript starts with `user: ` or `chatbot: `", line=1, ambiguous=like, mislabelled=True)


def _labels(lines: list[str]) -> Iterator[_Label]:
    for index, line in enumerate(lines):
        found = _LABEL_LIKE.match(line)
        if found is None:
            continue
        name, rest = found.group(1), line[found.end() :]
        exact = name in ("user", "chatbot") and rest.startswith(" ")
        yield _Label(index, _LABELS[name.lower()], exact, index == 0 or lines[index - 1] == "", rest.removeprefix(" "))


def _ambiguity(label: _Label, lines: list[str]) -> str:
    start = lines[label.index].partition(":")[0] + ":"
    if not label.exact:
        why = "is not how a transcript starts a turn (`user: `, `chatbot: `)"
    elif not label.separated:
        why = "has no blank line before it"
    else:
        why = "is of the side that spoke before"
    return f"it can start a turn or be a part of the reply above: a line starts with `{start}` but {why}"


def _check_sides(turns: list[Turn], label_lines: LabelLines) -> None:
    """Refuses a longer text in which only one side seems to speak: its other side is probably labelled in another way."""
    if label_lines == "refuse" and len(turns) == 1 and "\n\n" in turns[0].response.strip() and not turns[0].early_termination:
        label = "user" if turns[0].speaker == PERSONA else "chatbot"
        raise TranscriptError(
            f"only `{label}: ` speaks in it, so the other side may be labelled otherwise",
            line=1,
            ambiguous=True,
            mislabelled=True,
        )


def sha256(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes; a lone surrogate counts as the bytes that stand for it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
