# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the benchmark.

```
VeraMHError
├── PackError            a pinned file is missing or differs
│   └── ManifestIncomplete  nothing says what a pack is called and where it comes from
├── RubricError          a rubric, prompt template or persona sheet cannot be read
├── RowError             a row lacks what a conversation or a verdict needs
├── TranscriptError      a text is no transcript, or can be read in more than one way
├── ChatLogError         a JSON value is no list of messages
├── RatingsError         ratings cannot be read or compared
├── ModelError           a model could not be reached, or its answer was unusable
├── UpstreamError        upstream's own code, run beside this project, is not there or does not run
├── JudgeFailed          the judge gave no usable verdict; never a rating
└── SimulationFailed     a side of the conversation failed; never a scored conversation
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class VeraMHError(Exception):
    """Base of all errors of the benchmark."""


class PackError(VeraMHError):
    """A file of the pack is missing or its bytes are not the pinned ones."""


class ManifestIncomplete(PackError):
    """Nothing says what a pack is called and where it comes from.

    Args:
        message: What is wrong.
        unknown: What has to be given, by the keys of a manifest.
    """

    def __init__(self, message: str, unknown: Sequence[str]) -> None:
        super().__init__(f"{message}: {', '.join(key.replace('_', ' ') for key in unknown)} unknown")
        self.unknown = unknown


class RubricError(VeraMHError):
    """A rubric, prompt template or persona sheet cannot be read."""


class RowError(VeraMHError):
    """A row lacks what is needed, or holds it in a shape that cannot be read."""


class TranscriptError(VeraMHError):
    """A text cannot be read as a conversation.

    Args:
        message: What is wrong.
        line: Number of the line, from 1.
        ambiguous: True if it can be read once somebody says how.
        mislabelled: True if the labels are probably not those of a transcript.
    """

    def __init__(self, message: str, *, line: int, ambiguous: bool = False, mislabelled: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.ambiguous, self.mislabelled = message, line, ambiguous, mislabelled


class ChatLogError(VeraMHError):
    """A JSON value is no conversation: neither a list of messages nor an object that holds one."""


class RatingsError(VeraMHError):
    """Ratings cannot be read or compared.

    Args:
        message: What is wrong.
        line: Number of the line, from 1, if it is in one.
        mend: What to do about it, if that is known.
    """

    def __init__(self, message: str, *, line: int | None = None, mend: str | None = None) -> None:
        super().__init__(message)
        self.message, self.line, self.mend = message, line, mend


class ModelError(VeraMHError):
    """A model could not be reached or answered with an error, after all retries of its server.

    Args:
        message: What happened, in the words of the provider where it gave any.
        status: HTTP status, if there was one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.message, self.status = message, status


class UpstreamError(VeraMHError):
    """Upstream's own code, which a calibration runs, is not there or does not run.

    Args:
        what: What happened.
        where: What or which place is at fault.
        mend: What to do about it.
    """

    def __init__(self, what: str, *, where: str | None = None, mend: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.mend = what, where, mend


class JudgeFailed(VeraMHError):
    """The judging of a conversation failed as a whole.

    Args:
        message: What happened.
        question_id: The question that could not be answered.
        attempts: Judge calls made for that question.
        raw_reply: The judge's last reply, as it came (None if there was none).
        finish_reason: Finish reason of that reply.
        usage: Token usage of that reply.
        receipts: Receipts of all judge calls that were answered, as in a scored row.
    """

    def __init__(
        self,
        message: str,
        *,
        question_id: str,
        attempts: int,
        raw_reply: str | None = None,
        finish_reason: str | None = None,
        usage: Mapping[str, Any] | None = None,
        receipts: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.question_id, self.attempts = question_id, attempts
        self.raw_reply, self.finish_reason, self.usage = raw_reply, finish_reason, usage
        self.receipts = list(receipts)


SETUP = "setup"
"""Stage of a simulation that could not begin, because the row does not fit the pack or the configuration."""


class SimulationFailed(VeraMHError):
    """A side of the conversation failed, so that there is no conversation to judge.

    Args:
        message: What happened.
        stage: Where: `persona_turn_7`, `provider_turn_8`, or `SETUP`.
        exchanges: What was said before (each a `vera_mh.turns.Exchange`).
    """

    def __init__(self, message: str, *, stage: str, exchanges: Sequence[Any] = ()) -> None:
        super().__init__(message)
        self.stage, self.exchanges = stage, exchanges
