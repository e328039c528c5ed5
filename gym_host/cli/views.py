# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The views of a finished run, from the resources server that scored it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gym_host.cli.scorer import Scorer, find_scorer
from gym_host.cli.setup import find_components
from gym_host.config.views import views_of
from gym_host.errors import UserError


@dataclass(frozen=True, slots=True)
class Views:
    """The views of the resources server that scored a run, read once for all that a command shows.

    Attributes:
        server: The server's folder.
        rollouts: The run's rollouts.
        module: Its `views.py`, if it has one.
    """

    server: str
    rollouts: Path
    module: ModuleType | None

    def view(self, name: str) -> Callable[..., Any]:
        """A function of the `views.py`.

        Raises:
            UserError: The server has no such view.
        """
        found = getattr(self.module, name, None)
        if not callable(found):
            raise UserError(f"the server `{self.server}` has no view `{name}` of its runs", where=str(self.rollouts))
        return found  # type: ignore[no-any-return]


def find_views(args: argparse.Namespace, rollouts: Path) -> Views:
    """The views of the resources server that scored a run.

    Args:
        args: The command's words; where they choose no configuration, that of the run is taken.
        rollouts: The run's rollouts.

    Raises:
        UserError: Nothing says which server it is, or its views cannot be loaded.
    """
    return views_by(args, find_scorer(args, rollouts), rollouts)


def views_by(args: argparse.Namespace, scorer: Scorer, rollouts: Path) -> Views:
    """The same where the scorer is known.

    Raises:
        UserError: Its views cannot be loaded.
    """
    instance = next(instance for instance in scorer.instances if instance.name == scorer.name)
    return Views(instance.folder, rollouts, views_of(find_components(args), instance))
