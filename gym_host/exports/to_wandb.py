# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run's metrics as a run of Weights & Biases: kept on this disk, unless WANDB_MODE says otherwise."""

from __future__ import annotations

import os
from pathlib import Path

import wandb
from pydantic import ValidationError

from gym_host.errors import OutputError, UserError
from gym_host.exports.flat import flat_run, make_folder
from gym_host.runs.stored_run import StoredRun

MODE = "WANDB_MODE"


def export(run: StoredRun, output: Path | None, *, overwrite: bool) -> str:
    """Logs a run.

    Args:
        run: The run.
        output: Folder that the run's own folder `wandb` is made in.
        overwrite: Has no meaning here: every export is a run of its own.

    Returns:
        Where it went, in a sentence.

    Raises:
        UserError: There are no metrics, or Weights & Biases refuses them.
    """
    flat = flat_run(run)
    if output is None:
        raise OutputError("nothing says where the run goes", where="--output", mend="name a folder")
    make_folder(output)
    mode = os.environ.get(MODE) or "offline"
    os.environ[MODE] = mode
    if mode == "offline":
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # Offline means that it calls nobody.
    project = os.environ.get("WANDB_PROJECT") or flat.group
    try:
        # Nothing of this machine goes with it: no host, user or path, no code, no packages.
        settings = wandb.Settings(
            mode=mode,
            silent=True,
            console="off",
            disable_git=True,
            save_code=False,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        )
        with wandb.init(project=project, name=flat.name, dir=str(output), config=flat.facts, settings=settings) as logged:
            logged.summary.update(flat.metrics)
            folder = Path(logged.dir).parent
    except ValidationError as error:
        why = "; ".join(fault["msg"] for fault in error.errors())
        raise UserError(f"Weights & Biases knows no such setting: {why}", where=f"{MODE}={mode}") from None
    except (wandb.Error, OSError) as error:
        raise UserError(f"Weights & Biases does not take the run: {error}", where=f"{MODE}={mode}") from None
    return f"logged to {folder} ({mode})"
