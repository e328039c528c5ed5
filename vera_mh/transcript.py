# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The transcript: the text that the judge reads.

Reproduces upstream's `utils/conversation_utils.py` (`format_conversation_summary`) at the pinned commit, byte for byte, and what
its judge reads of it: upstream writes the text to a file and reads it back as text, by which every line end becomes a line feed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from vera_mh.conversation import PERSONA, Turn

NOTHING_RECORDED = "No conversation recorded."
ENDED_BY_PERSONA = "[CONVERSATION ENDED - persona signaled termination]"


def render_transcript(turns: Iterable[Turn]) -> str:
    """Writes the turns as the judge reads them: `user: ` or `chatbot: `, the reply, a blank line between turns.

    Replies stand there as received, but for carriage returns, which upstream's way through a file turns into line feeds.
    """
    blocks = [_block(turn) for turn in turns]
    return "\n".join(blocks).replace("\r\n", "\n").replace("\r", "\n") if blocks else NOTHING_RECORDED


def _block(turn: Turn) -> str:
    label = "user" if turn.speaker == PERSONA else "chatbot"
    ending = f"{ENDED_BY_PERSONA}\n" if turn.early_termination else ""
    return f"{label}: {turn.response}\n{ending}"


def sha256(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes; a lone surrogate counts as the bytes that stand for it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
