# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval report`: a run as one HTML file that needs no network and no server."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from gym_host.atomic import write_whole
from gym_host.cli.output import say_next
from gym_host.cli.parser import add_config_flags
from gym_host.cli.views import find_views
from gym_host.runs.outputs import refuse_output
from gym_host.runs.run_files import RunFiles
from gym_host.runs.stored_run import open_run

VIEW = "report"
PAGES = (".html", ".htm")


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    parser.add_argument("rollouts", type=Path, metavar="RUN", help="rollouts of the run (.jsonl)")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="the page (.html; default: beside the rollouts)")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")


def run(args: argparse.Namespace) -> int:
    """Writes the report of a run.

    Returns:
        0.
    """
    files = RunFiles.read_from(args.rollouts)
    output = args.output or files.report
    refuse_output(output, endings=PAGES, what="a page", overwrite=args.overwrite, reads=[args.rollouts], page=True)
    view = find_views(args, args.rollouts).view(VIEW)
    stored = open_run(args.rollouts)
    write_page(output, view(stored))
    if incomplete := stored.incomplete():
        print(incomplete)
    print(f"written to {output}")
    say_next("open it in a browser")
    return 0


def write_page(output: Path, parts: Iterable[str]) -> None:
    """Writes a page as it is made, and puts it in place as a whole.

    Raises:
        UserError: It cannot be written, or what it shows cannot be read; an old page is as it was.
    """
    write_whole(output, (part.encode("utf-8", "replace") for part in parts))
