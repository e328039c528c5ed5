# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run as a log of Inspect, read back by Inspect itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gym_host.cli.main import main
from tests.support.components import read_jsonl, snapshot, write_jsonl
from vera_mh.views.samples import CONVERSATION, POOLED

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

inspect_log = pytest.importorskip("inspect_ai.log", reason="needs inspect-ai: pip install 'vera-mh-gym[inspect]'")


def exported(rollouts: Path, output: Path, *words: str) -> EvalLog:
    assert main(["eval", "export", str(rollouts), "--to", "inspect", "--output", str(output), *words]) == 0
    log: EvalLog = inspect_log.read_eval_log(str(output))
    return log


def rows_by_name(rollouts: Path) -> dict[tuple[str, int], dict[str, Any]]:
    return {(row["id"], row["_ng_rollout_index"] + 1): row for row in read_jsonl(rollouts)}


@pytest.fixture(scope="module")
def log(demo_run: Path, tmp_path_factory: pytest.TempPathFactory) -> EvalLog:
    before = snapshot(demo_run.parent)
    log = exported(demo_run, tmp_path_factory.mktemp("logs") / "logs/careless.eval")
    assert snapshot(demo_run.parent) == before
    return log


def test_every_conversation_is_a_sample_whose_messages_are_its_turns(log: EvalLog, demo_run: Path):
    rows = rows_by_name(demo_run)
    samples = {(sample.id, sample.epoch): sample for sample in log.samples or ()}
    assert samples.keys() == rows.keys()
    for name, row in rows.items():
        first, *said = samples[name].messages
        assert (first.role, first.text) == ("system", row["simulation"]["provider_system_prompt"])
        roles = {"persona": "user", "provider": "assistant"}
        assert [(message.role, message.text) for message in said] == [
            (roles[turn["speaker"]], turn["response"]) for turn in row["conversation"]
        ]


def test_each_rating_is_a_score_with_its_reason_and_the_path_of_the_judge(log: EvalLog, demo_run: Path):
    rows = rows_by_name(demo_run)
    for sample in log.samples or ():
        row, scores = rows[str(sample.id), sample.epoch], sample.scores or {}
        assert {name: score.value for name, score in scores.items() if name != CONVERSATION} == row["ratings"]
        own = scores[CONVERSATION].value if CONVERSATION in scores else None
        assert own == row["conversation_vera_score"]
        for step in row["question_path"]:
            assert f"{step['question_id']}: {step['answer']}" in str(scores[step["dimension"]].explanation)


def test_a_sample_tells_persona_risk_simulator_and_path(log: EvalLog, demo_run: Path):
    rows = rows_by_name(demo_run)
    for sample in log.samples or ():
        row = rows[str(sample.id), sample.epoch]
        for name in ("persona_name", "risk_level", "user_simulator", "question_path", "judge_model"):
            assert sample.metadata[name] == row[name]


def test_the_results_are_the_metrics_of_the_run(log: EvalLog, demo_run: Path):
    (entry,) = json.loads(demo_run.with_name("careless_aggregate_metrics.json").read_bytes())
    metrics = entry["agent_metrics"]
    assert log.results is not None
    scores = {score.name: score.metrics for score in log.results.scores}
    assert scores[POOLED]["vera_score"].value == metrics["vera_score"]
    assert scores[POOLED]["vera_score/ci95_low"].value == metrics["vera_score/ci95_low"]
    assert scores["Confirms Risk"]["damaging_pct"].value == metrics["damaging_pct/dimension/Confirms Risk"]


def test_the_head_tells_model_task_and_how_the_run_ended(log: EvalLog):
    assert (log.status, log.eval.model, log.eval.task) == ("success", "careless", "vera_mh_demo_agent")
    assert (log.eval.dataset.samples, log.eval.config.epochs) == (4, 2)
    assert log.results is not None
    assert (log.results.total_samples, log.results.completed_samples) == (8, 8)


def test_a_failed_rollout_is_a_sample_with_an_error_and_without_scores(demo_run: Path, tmp_path: Path):
    for path in demo_run.parent.glob("careless*"):
        shutil.copy(path, tmp_path / path.name)
    rollouts = tmp_path / "careless.jsonl"
    first, *rest = read_jsonl(rollouts)
    write_jsonl(rollouts, rest)
    failed = first | {"_ng_failure_class": "judge_failed", "error": "no answer"}
    write_jsonl(tmp_path / "careless_failures.jsonl", [failed])
    record = json.loads((tmp_path / "careless_run.json").read_bytes()) | {"status": "interrupted"}
    (tmp_path / "careless_run.json").write_text(json.dumps(record))
    log = exported(rollouts, tmp_path / "x.json")
    (sample,) = [sample for sample in log.samples or () if sample.error]
    assert sample.error is not None
    assert (sample.error.message, sample.scores, sample.id) == ("judge_failed: no answer", {}, first["id"])
    assert len(sample.messages) == 1 + first["turn_count"]
    assert log.status == "cancelled"
    assert log.results is not None
    assert (log.results.total_samples, log.results.completed_samples) == (8, 7)


def test_a_log_is_replaced_only_if_one_says_so(demo_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    output = tmp_path / "x.eval"
    exported(demo_run, output)
    assert capsys.readouterr().out == f"8 samples written to {output}\nnext: inspect view start --log-dir {tmp_path}\n"
    assert main(["eval", "export", str(demo_run), "--to", "inspect", "--output", str(output)]) == 2
    assert "add --overwrite" in capsys.readouterr().err
    exported(demo_run, output, "--overwrite")
    assert [path.name for path in tmp_path.iterdir()] == ["x.eval"]


def test_no_file_of_the_run_is_replaced_by_its_log(demo_run: Path, capsys: pytest.CaptureFixture[str]):
    record = demo_run.with_name("careless_run.json")
    before = record.read_bytes()
    assert main(["eval", "export", str(demo_run), "--to", "inspect", "--output", str(record), "--overwrite"]) == 2
    assert "careless_run.json is a file of the run" in capsys.readouterr().err
    assert record.read_bytes() == before


@pytest.mark.parametrize("words", [(), ("--output", "log.txt"), ("--output", ".")])
def test_an_output_that_is_no_log_is_refused(demo_run: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    assert main(["eval", "export", str(demo_run), "--to", "inspect", *words]) == 2
    assert ".eval" in capsys.readouterr().err


def test_a_file_in_the_place_of_a_folder_is_refused(demo_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "file").write_text("x")
    assert main(["eval", "export", str(demo_run), "--to", "inspect", "--output", str(tmp_path / "file/x.eval")]) == 2
    assert "is no folder and cannot be made one" in capsys.readouterr().err


def test_a_time_that_is_none_is_left_out_of_the_log(demo_run: Path, tmp_path: Path):
    for path in demo_run.parent.glob("careless*"):
        shutil.copy(path, tmp_path / path.name)
    record = json.loads((tmp_path / "careless_run.json").read_bytes()) | {"started_at": "yesterday", "ended_at": 3}
    (tmp_path / "careless_run.json").write_text(json.dumps(record))
    log = exported(tmp_path / "careless.jsonl", tmp_path / "x.json")
    assert (log.stats.started_at, log.stats.completed_at) == ("", "")
