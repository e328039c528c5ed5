# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Characters that act on a text or hide in it. A page shows their code points in their place.

`assets/dom.js` has the same list for what the page's own program writes. Left as they are: what joins or parts letters (U+200C
and U+200D, which many scripts and emoji need), soft hyphens, variation selectors, and the tags of a flag.
"""

from __future__ import annotations

import re

_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
_CONTROL = "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f"
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"
_UNSEEN = "\u180e\u200b\u2028\u2029\u2060-\u2064\ufeff\U000e0000-\U000e007f"
_ACTING = re.compile(f"({_FLAG})|[{_CONTROL}{_DIRECTION}{_UNSEEN}]")


def by_code(text: str) -> str:
    """A text in which each such character stands as its code point: `U+202E`."""
    return _ACTING.sub(lambda found: found[0] if found[1] else f"U+{ord(found[0]):04X}", text)
