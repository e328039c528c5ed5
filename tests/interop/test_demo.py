# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The demo under NVIDIA's host, which finds it, makes its servers' environments, and comes to what our host comes to."""

from __future__ import annotations

import json

import pytest

from tests.support.both_hosts import under_ours
from tests.support.likeness import assert_same_run, metrics_of, rows_of
from tests.support.nemo_gym import PROJECT

pytestmark = pytest.mark.interop

RUN = ("eval", "run", "--benchmark", "vera_mh_demo", "--split", "benchmark", "--model", "careful")


def test_nvidias_command_finds_the_benchmark_in_this_checkout(nemo_gym):
    finished = nemo_gym("list", "benchmarks", "vera_mh", nemo_gym.quiet)
    assert finished.status == 0, finished.printed
    assert str(PROJECT / "benchmarks/vera_mh/config.yaml") in finished.printed


def test_nvidias_command_lists_the_benchmarks_of_this_checkout_beside_its_own_from_anywhere(nemo_gym, tmp_path):
    finished = nemo_gym("list", "benchmarks", "--json", environ={"NEMO_GYM_EXTRA_ROOTS": str(PROJECT)}, folder=tmp_path)
    assert finished.status == 0, finished.printed
    assert {"vera_mh", "vera_mh_demo", "gdpval"} <= {entry["name"] for entry in json.loads(finished.printed)}


def test_the_demo_comes_to_the_same_rollouts_and_metrics(nemo_gym, tmp_path):
    ours, theirs = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    under_ours(*RUN, output=ours)
    nemo_gym.evaluate(*RUN, output=theirs)
    assert_same_run(ours, theirs)
    assert len(rows_of(theirs)) == 8
    assert metrics_of(theirs)["agent_metrics"]["vera_score"] == pytest.approx(93.75)


def test_the_environments_of_our_servers_were_made_by_nvidias_host_from_their_requirements(nemo_gym):
    for server in ("resources_servers/vera_mh", "responses_api_agents/vera_mh_agent", "responses_api_models/scripted_model"):
        assert "uv = " in (nemo_gym.servers / server / ".venv/pyvenv.cfg").read_text()
