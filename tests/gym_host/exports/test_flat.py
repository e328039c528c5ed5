# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run as trackers of experiments want it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gym_host.errors import OutputError, UserError
from gym_host.exports.flat import flat_run, make_folder, seconds
from gym_host.runs.stored_run import open_run


def test_it_has_every_metric_that_is_known_as_a_number_and_how_many_rollouts_there_are(demo_run: Path):
    run = open_run(demo_run)
    flat = flat_run(run)
    metrics = run.metrics[0]["agent_metrics"]
    assert flat.metrics["vera_score"] == metrics["vera_score"]
    assert flat.metrics.keys() - {"num_planned", "num_scored", "num_failed"} == {
        name for name, value in metrics.items() if value is not None
    }
    assert (flat.metrics["num_planned"], flat.metrics["num_failed"]) == (8.0, 0.0)


def test_it_names_the_run_its_agent_and_the_models_and_when_it_was(demo_run: Path):
    flat = flat_run(open_run(demo_run))
    assert (flat.name, flat.group) == ("careless", "vera_mh_demo_agent")
    assert (flat.facts["evaluated_model"], flat.facts["model/vera_mh_demo_judge"]) == ("careless", "demo-judge")
    assert flat.facts["status"] == "complete"
    assert flat.started is not None
    assert flat.ended is not None
    assert flat.started <= flat.ended


def test_a_run_without_metrics_is_refused_and_one_without_a_record_has_no_facts(demo_run: Path, tmp_path: Path):
    shutil.copy(demo_run, tmp_path / "x.jsonl")
    with pytest.raises(UserError, match="there are no metrics"):
        flat_run(open_run(tmp_path / "x.jsonl"))
    shutil.copy(demo_run.with_name("careless_aggregate_metrics.json"), tmp_path / "x_aggregate_metrics.json")
    flat = flat_run(open_run(tmp_path / "x.jsonl"))
    assert (flat.facts, flat.started) == ({}, None)


@pytest.mark.parametrize("time", [None, 3, "", "yesterday", "2026-13-01T00:00:00Z", ["2026"]])
def test_a_time_that_is_none_is_not_known(time: object):
    assert seconds(time) is None
    assert seconds("1970-01-01T00:01:00+00:00") == 60


def test_a_folder_that_a_file_stands_in_the_way_of_is_refused(tmp_path: Path):
    make_folder(tmp_path / "new/deep")
    make_folder(tmp_path / "new/deep")
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file/deep"):
        with pytest.raises(OutputError, match="is no folder and cannot be made one") as caught:
            make_folder(folder)
        assert caught.value.where == "--output"
    assert (tmp_path / "file").read_text() == "x"
