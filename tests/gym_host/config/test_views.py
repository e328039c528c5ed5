# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The views that a resources server brings along."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gym_host.cli.views import Views
from gym_host.config.components import Components
from gym_host.config.scripts import load
from gym_host.config.views import views_of
from gym_host.errors import ConfigError, UserError
from tests.support.components import SumsRoot


def test_a_view_is_a_function_of_the_file_in_the_servers_folder(tmp_path: Path):
    root = SumsRoot(tmp_path / "root")
    _, verifier = root.instances()
    components = Components.discover([str(root.path)], cwd=tmp_path, environ={})
    assert views_of(components, verifier) is None
    (root.path / "resources_servers/sums_verifier/views.py").write_text("NUMBER = 7\n\n\ndef page(row):\n    return NUMBER\n")
    views = Views("sums_verifier", tmp_path, views_of(components, verifier))
    assert views.view("page")({}) == 7
    for name in ("NUMBER", "elsewhere"):
        with pytest.raises(UserError, match=f"has no view `{name}`"):
            views.view(name)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import no_such_package_anywhere", "no_such_package_anywhere"),
        ("def page(:", "invalid syntax"),
        ("assert False", "AssertionError"),
    ],
)
def test_a_script_that_cannot_be_imported_is_told_and_leaves_nothing_behind(tmp_path: Path, text: str, why: str):
    script = tmp_path / "views.py"
    script.write_text(text)
    name = f"gym_scripts.{tmp_path.name}.views"
    with pytest.raises(ConfigError, match="cannot be imported") as caught:
        load(script)
    assert why in str(caught.value)
    assert str(script) in str(caught.value)
    assert name not in sys.modules
    script.write_text("NUMBER = 1\n# longer than before, for no cache to stand in\n")
    whole = load(script)
    script.write_text(text)
    with pytest.raises(ConfigError):
        load(script)
    assert sys.modules.pop(name) is whole
