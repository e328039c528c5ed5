# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The views that a resources server brings along."""

from __future__ import annotations

from pathlib import Path

from gym_host.config.components import Components
from gym_host.config.views import view_of
from tests.support.components import SumsRoot


def test_a_view_is_a_function_of_the_file_in_the_servers_folder(tmp_path: Path):
    root = SumsRoot(tmp_path / "root")
    _, verifier = root.instances()
    components = Components.discover([str(root.path)], cwd=tmp_path, environ={})
    assert view_of(components, verifier, "page") is None
    (root.path / "resources_servers/sums_verifier/views.py").write_text("NUMBER = 7\n\n\ndef page(row):\n    return NUMBER\n")
    page = view_of(components, verifier, "page")
    assert page is not None
    assert page({}) == 7
    assert view_of(components, verifier, "NUMBER") is None
    assert view_of(components, verifier, "elsewhere") is None
