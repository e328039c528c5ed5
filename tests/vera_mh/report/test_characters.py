# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Characters that act or hide: shown by their code points, and the same ones in every place that shows a text."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import vera_mh.report
from gym_host.wording import harmless
from vera_mh.report.characters import by_code

FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
DOM = Path(vera_mh.report.__file__).parent / "assets" / "dom.js"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("left \u202egnol", "left U+202Egnol"),
        ("a\u200bb\ufeff\x1b", "aU+200BbU+FEFFU+001B"),
        (f"{FLAG} \U000e0067", f"{FLAG} U+E0067"),
        ("\U0001f469\u200d\U0001f692 \u2764\ufe0f two\nlines\tand more",) * 2,
    ],
)
def test_what_acts_or_hides_is_shown_by_its_code_and_all_else_stays(text: str, shown: str):
    assert by_code(text) == shown


def test_the_page_its_program_and_the_terminal_have_one_list():
    every = [chr(code) for code in range(sys.maxunicode + 1)]
    by_page = {char for char in every if by_code(char) != char}
    assert by_page == acting_in_the_program()
    assert {char for char in every if harmless(char) != char} == by_page | {"\r"}


def acting_in_the_program() -> set[str]:
    (listed,) = re.findall(r"const ACTING = /\([^)]*\)\|\[([^\]]*)\]/gu;", DOM.read_text("utf-8"))
    codes = r"\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))"
    assert re.fullmatch(f"(?:{codes}(?:-{codes})?)+", listed)
    found = set()
    for first, short_first, last, short_last in re.findall(f"{codes}(?:-{codes})?", listed):
        start = int(first or short_first, 16)
        found |= {chr(code) for code in range(start, int(last or short_last or hex(start), 16) + 1)}
    return found
