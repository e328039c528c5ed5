# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Texts from elsewhere."""

from __future__ import annotations

import pytest

from gym_host.wording import harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("dos\r\nlines", "dos\nlines"),
        ("\x1b[2Jgone", "\ufffd[2Jgone"),
        ("over\rwritten \x07\x9b31m", "over\ufffdwritten \ufffd\ufffd31m"),
        ("é 中 👩\u200d🚒", "é 中 👩\u200d🚒"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed_and_everything_else_stays(text: str, shown: str):
    assert harmless(text) == shown
