# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a resources server brings along to show its runs: functions of the file `views.py` in its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from gym_host.config.components import Components
from gym_host.config.configuration import Instance
from gym_host.config.scripts import load

VIEWS = "views.py"


def views_of(components: Components, instance: Instance) -> ModuleType | None:
    """The `views.py` in a server's folder; None if it has none."""
    path = components.locate(Path(instance.type, instance.folder, VIEWS))
    return load(path) if path is not None else None


def view_of(components: Components, instance: Instance, name: str) -> Callable[..., Any] | None:
    """A function of the `views.py` in a server's folder; None if it has none of this name."""
    view = getattr(views_of(components, instance), name, None)
    return view if callable(view) else None
