# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page that a run leaves beside its files when it ends."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from gym_host.cli.output import stderr_console
from gym_host.cli.report import VIEW, write_page
from gym_host.cli.setup import find_components, verifier_of
from gym_host.config.configuration import Instance
from gym_host.config.views import view_of
from gym_host.errors import UserError
from gym_host.runs.evaluation import Evaluation
from gym_host.runs.outcome import Outcome
from gym_host.runs.stored_run import open_run

_log = logging.getLogger(__name__)

MOST_ROLLOUTS = 1000
"""Rollouts up to which a page is written unasked: it is then a matter of a second or two."""


def add_report_flag(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--no-report", action="store_true", help="write no page that shows the run at the end")


def report_at_end(args: argparse.Namespace, evaluation: Evaluation, outcome: Outcome) -> Path | None:
    """Writes the page of a run that has ended, in place of an earlier one.

    A page that cannot be written, whatever the reason, changes nothing of the run, and is only warned of. That goes for Ctrl-C
    too: it ends the page, not the run, which is over.

    Returns:
        The page; None if there is none: it is not wanted, the run was interrupted or is too large to be shown unasked, or its
        resources server has no view for it.
    """
    files = evaluation.files
    if args.no_report or outcome.metrics is None or not files.rollouts.exists():
        return None
    if outcome.planned > MOST_ROLLOUTS:
        stderr_console().print(f"no page was written for so many rollouts; `gym eval report {files.rollouts}` does")
        return None
    try:
        return files.report if _write_page(args, evaluation) else None
    except KeyboardInterrupt:
        _say_none(f"interrupted; `gym eval report {files.rollouts}` writes it")
    except UserError as error:
        _say_none(str(error))
    except Exception as error:  # Views are code of whoever wrote the resources server.
        _log.info("the page could not be made", exc_info=True)
        _say_none(f"{type(error).__name__}: {error} (-v shows where)")
    return None


def _write_page(args: argparse.Namespace, evaluation: Evaluation) -> bool:
    view = view_of(find_components(args), _verifier(evaluation), VIEW)
    if view is None:
        return False
    write_page(evaluation.files.report, view(open_run(evaluation.files.rollouts)))
    return True


def _say_none(why: str) -> None:
    stderr_console().print(f"no page was written: {why}", style="yellow")


def _verifier(evaluation: Evaluation) -> Instance:
    """The resources server that scored a run: the scorer itself, or the one that it refers to."""
    by_name = {instance.name: instance for instance in evaluation.instances}
    scorer = by_name[evaluation.scorer]
    return by_name[verifier_of(scorer) or scorer.name]
