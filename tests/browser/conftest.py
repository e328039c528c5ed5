# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A browser for all tests, and a fresh window for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browser import Window, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running browser. It keeps an event loop of its own, so it is gone before the tests of the next file begin."""
    program = chromium()
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install '.[browser]'")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def window(browser: Any) -> Iterator[Window]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    context.set_default_timeout(15_000)
    window = Window(context.new_page())
    yield window
    assert window.faults == []
    context.close()
