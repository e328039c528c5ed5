# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a resources server brings along to show its runs: functions of the file `views.py` in its folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gym_host.cli.scorer import find_scorer
from gym_host.cli.setup import find_components
from gym_host.config.scripts import load
from gym_host.errors import UserError

VIEWS = "views.py"


def find_view(args: argparse.Namespace, rollouts: Path, name: str) -> Callable[..., Any]:
    """A function of the `views.py` of the resources server that scored a run.

    Args:
        args: The command's words; where they choose no configuration, that of the run is taken.
        rollouts: The run's rollouts.
        name: Name of the function.

    Raises:
        UserError: Nothing says which server it is, or it has no such view.
    """
    scorer = find_scorer(args, rollouts)
    instance = next(instance for instance in scorer.instances if instance.name == scorer.name)
    path = find_components(args).locate(Path(instance.type, instance.folder, VIEWS))
    view = getattr(load(path), name, None) if path is not None else None
    if not callable(view):
        raise UserError(f"the server `{instance.folder}` has no view `{name}` of its runs", where=str(rollouts))
    return view  # type: ignore[no-any-return]
