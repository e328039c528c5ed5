# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The views of a finished run, from the resources server that scored it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gym_host.cli.scorer import find_scorer
from gym_host.cli.setup import find_components
from gym_host.config.views import view_of
from gym_host.errors import UserError


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
    view = view_of(find_components(args), instance, name)
    if view is None:
        raise UserError(f"the server `{instance.folder}` has no view `{name}` of its runs", where=str(rollouts))
    return view
