# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run and a reverification have in common on the command line and in the environment."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from gym_host.cli.end_report import add_report_flag
from gym_host.cli.parser import positive
from gym_host.config.components import Components
from gym_host.config.configuration import Instance
from gym_host.config.views import view_of
from gym_host.errors import UserError
from gym_host.runs.cost import METER, MakeMeter

DEFAULT_CONCURRENCY = 64
ATTEMPTS_VARIABLE = "NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"


def add_run_flags(parser: argparse._ActionsContainer, *, what: str) -> None:
    """The flags that say how much is done at once, and what at the end."""
    parser.add_argument("--concurrency", type=positive, metavar="N", help=f"{what} at once (default: {DEFAULT_CONCURRENCY})")
    parser.add_argument("--disable-aggregation", action="store_true", help="compute no metrics at the end")
    add_report_flag(parser)


def max_attempts() -> int:
    """Failed attempts after which a rollout is given up, from the environment.

    Raises:
        UserError: The variable is no number.
    """
    text = os.environ.get(ATTEMPTS_VARIABLE, "3")
    if not text.isdecimal() or int(text) < 1:
        raise UserError(
            f"{text!r} is not a whole number from 1 on",
            where=f"environment variable {ATTEMPTS_VARIABLE}",
            mend="set it to such a number, or leave it unset",
        )
    return int(text)


def meter_of(components: Components, instances: Sequence[Instance], verifier: str | None) -> MakeMeter | None:
    """What makes the meter of a run's cost, if its resources server brings one along."""
    instance = next((instance for instance in instances if instance.name == verifier), None)
    return view_of(components, instance, METER) if instance is not None else None
