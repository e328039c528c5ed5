# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of things, and texts from elsewhere."""

from __future__ import annotations

import pytest

from gym_host.wording import counted, harmless


def test_one_thing_is_told_in_the_singular():
    assert [counted(number, "server") for number in (0, 1, 2)] == ["0 servers", "1 server", "2 servers"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nlines", "dos\nlines"),
        ("\x1b[2Jgone", "\ufffd[2Jgone"),
        ("over\rwritten \x07\x9b31m", "over\ufffdwritten \ufffd\ufffd31m"),
        ("left \u202egnol si siht\u202c right", "left \ufffdgnol si siht\ufffd right"),
        ("a\u2028b\u2029c\u200bd\ufeff", "a\ufffdb\ufffdc\ufffdd\ufffd"),
        ("tags \U000e0041\U000e007f", "tags \ufffd\ufffd"),
        ("a flag \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",) * 2,
        ("joined \u0645\u06cc\u200c\u062e, \u2764\ufe0f",) * 2,
        ("é 中 👩\u200d🚒", "é 中 👩\u200d🚒"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed_and_everything_else_stays(text: str, shown: str):
    assert harmless(text) == shown
