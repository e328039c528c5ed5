# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The demo by the command itself: a careful and a careless chatbot, offline, in an empty working directory."""

from __future__ import annotations

import io
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gym_host.cli.main import main
from tests.support.components import KEY_VARIABLES, read_jsonl
from tests.support.endpoint import Fault, endpoint_process
from vera_mh.metrics import compute_metrics, group_level_metrics, key_metrics

DISPATCHED = {
    *("id", "persona_index", "persona_name", "persona", "persona_sha256", "persona_system_prompt"),
    *("user_simulator", "user_simulator_upstream_model", "risk_level", "disclosure_level", "max_turns"),
    *("responses_create_params", "upstream", "_ng_task_index", "_ng_rollout_index", "agent_ref", "task_source"),
}
SCORED = DISPATCHED | {
    *("response", "conversation", "transcript", "turn_count", "early_termination", "simulation"),
    *("reward", "ratings", "rating_reasoning", "yes_question_ids", "yes_reasoning", "question_path", "questions_asked"),
    *("judge_calls", "judge_fallback_answers", "judge_parse_retries_used", "judge_receipts", "judge_model"),
    *(
        "transcript_matches_agent",
        "transcript_sha256",
        "judge_directed_text",
        "conversation_vera_score",
        "all_not_relevant",
        "rated_dimensions",
    ),
    *("has_high_harm", "all_best_practice_or_not_relevant", "rubric_version", "upstream_revision"),
}
SIMULATION = {
    *("user_simulator", "user_model_server", "provider_model_server", "provider_system_prompt", "start_prompt"),
    *("max_turns_requested", "max_turns_effective", "turn_records", "provider_usage", "persona_usage", "provider_empty_turns"),
    *("provider_truncated_turns", "persona_empty_turns", "duration_ms", "transcript_sha256"),
}
TURN_RECORD = {
    *("turn", "speaker", "server", "model", "response_id", "latency_ms", "usage", "incomplete", "incomplete_reason"),
    *("chars", "empty"),
}
ANSWERED = {"question_id", "dimension", "answer", "raw_answer", "fallback", "reasoning", "goto", "next_question_id"}
RECEIPT = {
    *("question_id", "attempt", "judge_model", "response_id", "finish_reason", "usage", "content", "content_sha256"),
    "prompt_sha256",
}
"""The keys of `spec/05-rows-and-files.md`."""

CHANGING = {"response", "simulation"}
"""What holds times, and so differs from run to run."""

JUDGE = "vera_mh_demo_judge.responses_api_models"
NONSENSE = Fault(kind="content", role="judge", first=1, body="I would rather not say.")


@dataclass(frozen=True)
class DemoRun:
    """A finished run of the demo."""

    folder: Path
    at_once: int
    out: str
    err: str

    def file(self, ending: str) -> Path:
        return self.folder / f"x{ending}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        return read_jsonl(self.file(".jsonl"))

    @property
    def metrics(self) -> dict[str, Any]:
        (entry,) = json.loads(self.file("_aggregate_metrics.json").read_bytes())
        return dict(entry)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DemoRun]:
    """The careful chatbot twice and the careless one, at different speeds."""
    with pytest.MonkeyPatch.context() as environment:
        for name in KEY_VARIABLES:
            environment.delenv(name, raising=False)
        return {
            "careful": run_demo(tmp_path_factory.mktemp("careful"), "careful", "64"),
            "again": run_demo(tmp_path_factory.mktemp("again"), "careful", "1"),
            "careless": run_demo(tmp_path_factory.mktemp("careless"), "careless", "3"),
        }


def run_demo(folder: Path, model: str, concurrency: str, *words: str, code: int = 0) -> DemoRun:
    out, err = io.StringIO(), io.StringIO()
    demo = ["eval", "run", "--benchmark", "vera_mh_demo", "--model", model, "--concurrency", concurrency]
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        assert main([*demo, "--output", "results/x.jsonl", *words]) == code, err.getvalue()
    return DemoRun(folder / "results", min(8, int(concurrency)), out.getvalue(), err.getvalue())


def test_all_eight_conversations_are_scored_in_order_and_none_failed(runs: dict[str, DemoRun]):
    for run in runs.values():
        assert [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in run.rows] == [(task, 0) for task in range(8)]
        assert run.file("_failures.jsonl").read_bytes() == b""
        assert (run.metrics["num_planned"], run.metrics["num_scored"], run.metrics["num_failed"]) == (8, 8, 0)
        assert run.metrics["complete"] is True


def test_the_careful_chatbot_is_clearly_better_than_the_careless_one(runs: dict[str, DemoRun]):
    careful, careless = (runs[name].metrics["agent_metrics"] for name in ("careful", "careless"))
    assert careful["vera_score/ci95_low"] > careless["vera_score/ci95_high"] + 20
    assert careful["overall_damaging_pct"] < careless["overall_damaging_pct"]
    rewards = [sum(row["reward"] for row in runs[name].rows) for name in ("careful", "careless")]
    assert rewards[0] > rewards[1]


def test_a_run_leaves_its_five_files_and_a_page_and_nothing_else(runs: dict[str, DemoRun]):
    names = {
        "x.jsonl",
        "x_failures.jsonl",
        "x_materialized_inputs.jsonl",
        "x_aggregate_metrics.json",
        "x_run.json",
        "x_report.html",
    }
    for run in runs.values():
        assert {path.name for path in run.folder.iterdir()} == names
        assert [path.name for path in run.folder.parent.iterdir()] == ["results"]


def test_the_rows_as_dispatched_have_every_key_and_a_scored_row_carries_them(runs: dict[str, DemoRun]):
    run = runs["careful"]
    inputs = read_jsonl(run.file("_materialized_inputs.jsonl"))
    for dispatched, row in zip(inputs, run.rows, strict=True):
        assert set(dispatched) == DISPATCHED
        assert dispatched.items() <= row.items()
        assert dispatched["agent_ref"] == {"name": "vera_mh_demo_agent"}


def test_a_scored_row_has_every_key_down_to_the_turns_and_the_receipts(runs: dict[str, DemoRun]):
    for row in (row for run in runs.values() for row in run.rows):
        assert set(row) >= SCORED
        assert set(row["simulation"]) >= SIMULATION
        assert all(set(record) >= TURN_RECORD for record in row["simulation"]["turn_records"])
        assert len(row["simulation"]["turn_records"]) == row["turn_count"] == len(row["conversation"])
        assert all(set(receipt) >= RECEIPT for receipt in row["judge_receipts"])
        assert len(row["judge_receipts"]) == row["judge_calls"] == row["questions_asked"] > 0
        assert row["judge_model"] == "demo-judge"
        assert row["transcript_matches_agent"] is True
        assert row["transcript_sha256"] == row["simulation"]["transcript_sha256"]
        assert set(row["ratings"]) == set(row["rating_reasoning"]) == set(row["yes_question_ids"]) == set(row["yes_reasoning"])
        for entry in row["question_path"]:
            assert set(entry) == ANSWERED | {"special_case" if entry.get("special_case") else "response_id"}


def test_the_flags_of_a_row_follow_from_its_ratings(runs: dict[str, DemoRun]):
    flags = set()
    for row in (row for run in runs.values() for row in run.rows):
        ratings = list(row["ratings"].values())
        nothing = set(ratings) == {"Not Relevant"}
        assert row["all_not_relevant"] is nothing
        assert (row["conversation_vera_score"] is None) is nothing
        assert row["has_high_harm"] == float("High Potential for Harm" in ratings)
        assert row["all_best_practice_or_not_relevant"] == float(set(ratings) <= {"Best Practice", "Not Relevant"})
        assert row["rated_dimensions"] == len([rating for rating in ratings if rating not in ("Not Relevant", "")])
        flags.add((nothing, row["has_high_harm"], row["all_best_practice_or_not_relevant"]))
    assert len(flags) >= 4


def test_the_metrics_file_is_what_the_rows_come_to(runs: dict[str, DemoRun]):
    for run in runs.values():
        entry, metrics = run.metrics, compute_metrics(run.rows)
        assert entry["agent_ref"] == {"name": "vera_mh_demo_agent"}
        assert entry["agent_metrics"] == metrics
        assert entry["key_metrics"] == key_metrics(metrics)
        assert entry["group_level_metrics"] == group_level_metrics(run.rows)
        assert entry["failures_by_class"] == {}


def test_two_runs_of_the_same_are_equal_but_for_their_times(runs: dict[str, DemoRun]):
    first, second = (
        [{key: value for key, value in row.items() if key not in CHANGING} for row in runs[name].rows]
        for name in ("careful", "again")
    )
    assert first == second
    assert runs["careful"].metrics == runs["again"].metrics
    assert runs["careful"].out == runs["again"].out


def test_the_record_says_what_was_run(runs: dict[str, DemoRun]):
    record = json.loads(runs["careful"].file("_run.json").read_bytes())
    servers = record["identity"]["servers"]
    assert servers["vera_mh_demo"]["about"]["pack_sha256"] == servers["vera_mh_demo_agent"]["about"]["pack_sha256"]
    assert len(servers["vera_mh_demo"]["about"]["pack_sha256"]) == len(record["identity"]["rows"]["sha256"]) == 64
    assert servers["policy_model"]["settings"]["model"] == "careful"
    assert (record["status"], record["counts"]) == ("complete", {"planned": 8, "scored": 8, "failed": {}})
    assert {"vera-mh-gym", "python"} <= set(record["versions"])


def test_the_printed_text_has_n_the_interval_the_failures_and_no_promise(runs: dict[str, DemoRun]):
    for name, run in runs.items():
        metrics = run.metrics["agent_metrics"]
        assert run.err.splitlines() == [
            f"8 rollouts with vera_mh_demo_agent, {run.at_once} at once -> results/x.jsonl",
            f"  policy_model: {'careful' if name == 'again' else name} @ scripted_model",
            "  vera_mh_demo_user: demo-persona @ scripted_model",
            "  vera_mh_demo_judge: demo-judge @ scripted_model",
        ]
        text = " ".join(run.out.split())
        interval = f"{metrics['vera_score/ci95_low']:.2f} to {metrics['vera_score/ci95_high']:.2f}"
        assert f"VERA-MH score (0 to 100) {metrics['vera_score']:.2f} 95% interval {interval}" in text
        assert f"of {metrics['total_dimension_evaluations']} ratings" in text
        assert f"of {metrics['total_relevant_conversations']} relevant (8 in all)" in text
        assert "8 of 8 rollouts scored, 0 failed." in text
        assert "It is no certification, and no guarantee of safety." in text
        assert "INCOMPLETE" not in text
        assert "results/x.jsonl" in text


def test_a_conversation_whose_judge_failed_is_kept_whole_and_only_judged_again(tmp_path: Path):
    with endpoint_process(faults=[NONSENSE], record=True) as url:
        judge = f"{{entrypoint: app.py, base_url: '{url}', model: judge, api_key: unused}}"
        words = [f"~{JUDGE}.scripted_model", f"+{JUDGE}.inference_provider={judge}", "--limit", "2"]
        words.append("++vera_mh_demo.resources_servers.vera_mh.judge_parse_retries=0")
        first = run_demo(tmp_path, "careful", "1", *words, code=1)
        (failed,) = read_jsonl(first.file("_failures.jsonl"))
        second = run_demo(tmp_path, "careful", "1", *words, "--resume")
    assert set(failed) >= DISPATCHED | {"response", "conversation", "simulation", "failed_at", "duration_seconds"}
    assert (failed["_ng_failure_class"], failed["_ng_attempt_index"]) == ("judge_failed", 0)
    assert (failed["reward"], failed["mask_sample"]) == (0.0, True)
    assert failed["failure_stage"] == "judge_question_1"
    details = failed["failure_details"]
    assert details["raw_reply"] == NONSENSE.body
    assert details["finish_reason"] == "stop"
    assert details["usage"]["total_tokens"] > 0
    assert "ratings" not in failed
    assert "first failure: vera_mh_demo__" in first.err
    scored = second.rows[0]
    assert [row["_ng_task_index"] for row in second.rows] == [0, 1]
    assert (scored["simulation"], scored["response"]) == (failed["simulation"], failed["response"])
    assert set(scored) == set(second.rows[1])
    assert second.metrics["complete"] is True
