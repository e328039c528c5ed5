# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How things are worded: which name was meant, several faults in one message, numbers, and texts from elsewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from gym_host.errors import ConfigError

_NAMES_SHOWN = 12
# Control characters, marks that turn the direction of text, other line ends, and what nobody sees; the first group is a flag.
# Left as they are: what joins or parts letters (many scripts and emoji need it), soft hyphens and variation selectors.
_ACTING = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
    "|[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_FAULTS_SHOWN = 10


def quoted(*words: object) -> str:
    """Words of a command, as a shell takes them."""
    return shlex.join(map(str, words))


def nearest(name: str, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """The known name that is most like this one, or None if none is so much like it (1 is the same)."""
    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=least)), None)


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """Which name was probably meant, and which there are; None if there are none.

    Args:
        name: The name that is not known.
        known: The names that are.
    """
    names = sorted(set(known))
    if not names:
        return None
    more = f", and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    listed = f"known: {', '.join(names[:_NAMES_SHOWN])}{more}"
    close = nearest(name, names)
    return f"did you mean `{close}`? ({listed})" if close else listed


def together(faults: Sequence[ConfigError], title: str) -> ConfigError:
    """One error for all the faults: a single one as it is, several as one line each below the title.

    Args:
        faults: At least one fault.
        title: What they have in common, e.g. `settings have no value`.
    """
    if len(faults) == 1:
        return faults[0]
    lines = [f"{len(faults)} {title}:"]
    lines += [
        f"  {'; '.join(part for part in (fault.what, fault.where, fault.mend) if part)}" for fault in faults[:_FAULTS_SHOWN]
    ]
    if len(faults) > _FAULTS_SHOWN:
        lines.append(f"  and {len(faults) - _FAULTS_SHOWN} more")
    return ConfigError("\n".join(lines))


def without_score(number: int, planned: int) -> str:
    """What is said first of a run that is not complete."""
    return f"INCOMPLETE: {number} of {planned} rollouts {'has' if number == 1 else 'have'} no score."


def counted(number: int, name: str) -> str:
    """A number of things: `1 server`, `2 servers`."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def harmless(text: str) -> str:
    """A text from elsewhere with its lines as they are, and nothing in it that acts on a terminal or that nobody sees."""
    return _ACTING.sub(lambda found: found[1] or "\ufffd", text.replace("\r\n", "\n"))


def printable(text: str, *, longest: int = 600) -> str:
    """A text from elsewhere as one line that does nothing to a terminal: control characters as blanks, and a bounded length."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= longest else f"{line[:longest]}..."
