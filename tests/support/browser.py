# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A real browser, where this machine has one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str:
    """The browser's program, or the test is skipped."""
    named = os.environ.get("VERA_MH_CHROMIUM")
    found = named if named else next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("needs a browser: install chromium, or name one in VERA_MH_CHROMIUM")
    return found


class Window:
    """A page in the browser, and what it did that no page of ours may do.

    Attributes:
        page: Playwright's page.
        faults: Errors of its script, violations of its policy, dialogs, and requests that left this machine's disk.
    """

    def __init__(self, page: Any) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._refuse)
        page.on("console", lambda message: self.faults.append(message.text) if message.type in ("error", "warning") else None)
        page.on("request", lambda request: None if request.url.startswith("file:") else self.faults.append(request.url))

    def _refuse(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def open(self, path: Path, where: str = "") -> None:
        """Opens a file as a reader would, at a place in it."""
        self.page.goto("about:blank")
        self.page.goto(f"{path.resolve().as_uri()}{where}")
        assert self.faults == []

    def text(self, selector: str) -> str:
        return " ".join(self.page.locator(selector).inner_text().split())

    def shown(self, selector: str) -> bool:
        return bool(self.page.locator(selector).first.is_visible())

    def texts(self, selector: str) -> list[str]:
        return [" ".join(text.split()) for text in self.page.locator(selector).all_inner_texts()]
