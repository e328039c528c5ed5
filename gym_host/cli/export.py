# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval export`: a finished run for the tools in which people already look."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from gym_host.cli.output import say_next
from gym_host.cli.parser import add_config_flags
from gym_host.cli.views import find_views
from gym_host.distribution import DISTRIBUTION
from gym_host.errors import OutputError, UserError
from gym_host.runs.outputs import refuse_output
from gym_host.runs.stored_run import StoredRun, open_run


@dataclass(frozen=True, slots=True)
class Target:
    """A tool that a run can be handed to.

    Attributes:
        title: What it is called.
        module: The module that hands it over, which needs a package that is not installed with this project.
        package: That package, as it is imported.
        extra: What is installed for it.
        export: Does it, by that module; says where it went.
        next: What to do then, where `{folder}` stands for the folder of the output.
    """

    title: str
    module: str
    package: str
    extra: str
    export: Callable[[ModuleType, argparse.Namespace, StoredRun], str]
    next: str

    def load(self) -> ModuleType:
        """Imports the module, which takes a while.

        Raises:
            UserError: The package is not installed.
        """
        try:
            return importlib.import_module(self.module)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != self.package:
                raise
        raise UserError(f"a package for {self.title} is not installed", mend=f"pip install '{DISTRIBUTION}[{self.extra}]'")


_LOGS = (".eval", ".json")


def _to_inspect(module: ModuleType, args: argparse.Namespace, run: StoredRun) -> str:
    output: Path | None = args.output
    if output is None:
        raise OutputError("nothing says where the log goes", where="--output", mend="name a file that ends in .eval")
    refuse_output(output, endings=_LOGS, what="a log", overwrite=args.overwrite, reads=[run.path])
    metrics = run.metrics[0].get("agent_metrics", {}) if run.metrics else {}
    views = find_views(args, run.path)
    results = views.view("results")(metrics) if metrics else {}
    count = module.write_log(run, views.view("samples")(run), results, output)
    return f"{count} samples written to {output}"


def _to_tracker(module: ModuleType, args: argparse.Namespace, run: StoredRun) -> str:
    return str(module.export(run, args.output, overwrite=args.overwrite))


TARGETS = {
    "inspect": Target(
        "Inspect", "gym_host.exports.to_inspect", "inspect_ai", "inspect", _to_inspect, "inspect view start --log-dir {folder}"
    ),
    "mlflow": Target("MLflow", "gym_host.exports.to_mlflow", "mlflow", "mlflow", _to_tracker, "look at it with `mlflow ui`"),
    "wandb": Target(
        "Weights & Biases",
        "gym_host.exports.to_wandb",
        "wandb",
        "wandb",
        _to_tracker,
        "if it is to leave this machine, `wandb sync` with its folder",
    ),
}


def add_flags(parser: argparse.ArgumentParser) -> None:
    add_config_flags(parser)
    parser.add_argument("rollouts", type=Path, metavar="ROLLOUTS", help="the run's rollouts (.jsonl)")
    parser.add_argument("--to", required=True, choices=list(TARGETS), help="the tool")
    parser.add_argument("--output", "-o", type=Path, metavar="PATH", help="for inspect a file (.eval), else a folder")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it is there")


def run(args: argparse.Namespace) -> int:
    """Exports a run.

    Returns:
        0.

    Raises:
        UserError: A package is missing, or the run cannot be handed over.
    """
    target = TARGETS[args.to]
    stored = open_run(args.rollouts)
    where = target.export(target.load(), args, stored)
    if incomplete := stored.incomplete():
        print(incomplete)
    print(where)
    say_next(target.next.format(folder=args.output.parent if args.output else ""))
    return 0
