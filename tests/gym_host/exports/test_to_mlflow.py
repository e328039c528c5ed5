# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run's metrics in MLflow, read back by MLflow itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from gym_host.cli.main import main
from gym_host.exports.flat import flat_run
from gym_host.runs.stored_run import open_run

mlflow = pytest.importorskip("mlflow", reason="needs MLflow: pip install 'vera-mh-gym[mlflow]'")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")


def test_every_metric_is_logged_with_dots_for_slashes_and_what_was_run_as_parameters(demo_run: Path, tmp_path: Path):
    for _ in range(2):
        assert main(["eval", "export", str(demo_run), "--to", "mlflow", "--output", str(tmp_path / "store")]) == 0
    flat = flat_run(open_run(demo_run))
    client = mlflow.MlflowClient(tracking_uri=(tmp_path / "store").as_uri())
    experiment = client.get_experiment_by_name(flat.group)
    runs = client.search_runs([experiment.experiment_id])
    assert [run.info.run_name for run in runs] == ["careless"] * 2
    assert runs[0].info.status == "FINISHED"
    assert runs[0].data.metrics == {name.replace("/", "."): pytest.approx(value) for name, value in flat.metrics.items()}
    assert runs[0].data.params["evaluated_model"] == "careless"


def test_without_a_folder_it_goes_to_the_server_that_the_environment_names(
    demo_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert main(["eval", "export", str(demo_run), "--to", "mlflow"]) == 2
    assert "MLFLOW_TRACKING_URI" in capsys.readouterr().err
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "elsewhere").as_uri())
    assert main(["eval", "export", str(demo_run), "--to", "mlflow"]) == 0
    assert (tmp_path / "elsewhere").is_dir()


def test_a_store_that_refuses_is_an_error_in_a_few_lines(demo_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("")
    assert main(["eval", "export", str(demo_run), "--to", "mlflow", "--output", str(tmp_path / "file")]) == 2
    assert "MLflow does not take the run" in capsys.readouterr().err
