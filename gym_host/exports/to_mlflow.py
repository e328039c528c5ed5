# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run's metrics as a run of MLflow: in a folder, or on the server that MLFLOW_TRACKING_URI names."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import Metric, Param
from mlflow.exceptions import MlflowException

from gym_host.errors import OutputError, UserError
from gym_host.exports.flat import flat_run
from gym_host.runs.stored_run import StoredRun

TRACKING_URI = "MLFLOW_TRACKING_URI"
_FILE_STORE = "MLFLOW_ALLOW_FILE_STORE"
_BATCH = 1000
"""What MLflow takes of metrics at once."""


def export(run: StoredRun, output: Path | None, *, overwrite: bool) -> str:
    """Logs a run.

    Args:
        run: The run.
        output: Folder of a store on this disk; None for the server of MLFLOW_TRACKING_URI.
        overwrite: Has no meaning here: a store only grows.

    Returns:
        Where it went, in a sentence.

    Raises:
        UserError: There are no metrics, or the store refuses them.
    """
    flat = flat_run(run)
    uri = _uri(output)
    try:
        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name(flat.group)
        experiment_id = experiment.experiment_id if experiment else client.create_experiment(flat.group)
        started, ended = _millis(flat.started), _millis(flat.ended)
        logged = client.create_run(experiment_id, start_time=started, run_name=flat.name).info.run_id
        metrics = [Metric(name_of(name), value, ended, 0) for name, value in flat.metrics.items()]
        for first in range(0, len(metrics), _BATCH):
            client.log_batch(logged, metrics=metrics[first : first + _BATCH])
        client.log_batch(logged, params=[Param(name_of(name), value) for name, value in flat.facts.items()])
        client.set_terminated(logged, end_time=ended)
    except (MlflowException, OSError) as error:
        raise UserError(f"MLflow does not take the run: {error}", where=uri) from None
    return f"logged to {uri} as run {flat.name} ({logged}) of the experiment {flat.group}"


def name_of(metric: str) -> str:
    """A metric's name with dots for slashes: in MLflow's folders `a` would be a file and `a/b` a file in a folder `a`."""
    return re.sub(r"[^\w .-]", "_", metric.replace("/", "."))


def _uri(output: Path | None) -> str:
    if output is not None:
        # MLflow keeps its folders as they are and develops databases; a folder is what needs no server and no further package.
        os.environ.setdefault(_FILE_STORE, "true")
        return output.absolute().as_uri()
    if uri := os.environ.get(TRACKING_URI):
        return uri
    raise OutputError("nothing says where the run goes", where="--output", mend=f"name a folder, or set {TRACKING_URI}")


def _millis(seconds: float | None) -> int:
    return round(1000 * (time.time() if seconds is None else seconds))
