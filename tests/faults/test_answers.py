# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whole runs of a few rows against an endpoint that answers as providers, simulators and judges do on a bad day.

The number in a test's name is that of the kind of trouble in `README.md`.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Small
from tests.support.behind import Results, results
from tests.support.components import lines_in, wait_until
from tests.support.demo import PACK_FOLDER
from tests.support.endpoint import Fault, endpoint_thread

Json = dict[str, Any]

SERVERS_WITH_A_PACK = ("vera_mh.resources_servers.vera_mh", "vera_mh_agent.responses_api_agents.vera_mh_agent")
SECOND = 1
"""The turn, as the endpoint counts it, of a side that has spoken once."""
FIRST_QUESTION = "how openly do they speak"


@dataclass(frozen=True)
class Ran:
    """A run of the small benchmark's first rows, what it said, and what the endpoint counted."""

    results: Results
    said: str
    counts: Mapping[str, int]

    @property
    def row(self) -> Json:
        """The only row, scored."""
        assert self.results.failures == [], self.said
        (row,) = self.results.rows
        return row

    @property
    def failure(self) -> Json:
        """The only row, failed once."""
        assert self.results.rows == []
        (row,) = self.results.failures
        assert (row["reward"], row["mask_sample"]) == (0.0, True)
        assert "ratings" not in row
        return row


@pytest.fixture
def ran(small: Small, tmp_path: Path) -> Any:
    """Runs the first rows against an endpoint with faults."""

    def run(*faults: Fault, words: Sequence[str] = (), rows: int = 1, code: int | None = None) -> Ran:
        output = tmp_path / "x.jsonl"
        with endpoint_thread(seed=7, faults=faults) as endpoint:
            behind = small.behind.at(endpoint.url)
            command = behind.command(output, "--limit", str(rows), *words)
            end = small.lives.live(command, environ=behind.environ)
        there = results(output)
        expected = code if code is not None else int(bool(there.failures))
        assert end.code == expected, end.said
        assert "Traceback" not in end.said
        return Ran(there, end.said, endpoint.counts)

    return run


def said_by(row: Json, speaker: str) -> list[str]:
    return [turn["response"] for turn in row["conversation"] if turn["speaker"] == speaker]


def pack_with_a_first_question(folder: Path, *options: str) -> Path:
    """The demo's pack, its first question with these options."""
    pack = folder / "pack"
    shutil.copytree(PACK_FOLDER, pack)
    rubric, manifest = pack / "rubric.tsv", pack / "manifest.yaml"
    before = rubric.read_text("utf-8")
    after = before.replace("\tOpenly\t", f"\t{options[0]}\t", 1).replace("\tIn hints\t", f"\t{options[1]}\t", 1)
    rubric.write_text(after, "utf-8")
    old, new = (hashlib.sha256(text.encode()).hexdigest() for text in (before, after))
    assert old in manifest.read_text()
    manifest.write_text(manifest.read_text().replace(old, new))
    return pack


# Providers' answers


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "error_in_200", "body": {"code": 429, "message": "Slow down, please"}}, "Slow down, please"),
        ({"kind": "no_choices"}, "no choice"),
        ({"kind": "empty_choices"}, "no choice"),
    ],
)
def test_01_an_error_inside_a_200_is_tried_again_a_few_times_and_then_a_failure_in_the_providers_words(ran, fault, words):
    failed = ran(Fault(**fault, role="provider", turn=SECOND))
    assert failed.failure["_ng_failure_class"] == "vera_mh_simulation_failed"
    assert failed.failure["failure_stage"] == "provider_turn_4"
    assert words in failed.failure["error"]
    assert failed.counts[f"fault/{fault['kind']}"] == 3


def test_01_an_error_inside_a_200_that_passes_costs_nothing(ran, small):
    row = ran(Fault(kind="error_in_200", role="provider", attempts=2)).row
    assert row["transcript"] == small.undisturbed.rows[0]["transcript"]


def test_02_half_a_text_of_a_generation_that_died_is_thrown_away_and_asked_for_again(ran, small):
    done = ran(Fault(kind="choice_error", role="provider", attempts=1), Fault(kind="choice_error", role="persona", attempts=1))
    assert done.row["transcript"] == small.undisturbed.rows[0]["transcript"]
    assert done.counts["fault/choice_error"] == 6


@pytest.mark.parametrize("tier", ["standard", "on_demand"])
def test_03_04_unknown_service_tiers_and_usage_that_is_null_are_accepted_and_unknown_is_not_zero(ran, small, tier):
    row = ran(Fault(kind="merged", body={"service_tier": tier, "usage": None})).row
    assert row["transcript"] == small.undisturbed.rows[0]["transcript"]
    assert row["ratings"] == small.undisturbed.rows[0]["ratings"]
    assert row["simulation"]["provider_usage"] is None
    assert row["judge_usage"] is None


def test_04_counts_of_which_only_some_are_null_are_kept_as_they_are(ran):
    usage = {"prompt_tokens": 5, "completion_tokens": None, "prompt_tokens_details": None, "completion_tokens_details": None}
    row = ran(Fault(kind="merged", role="provider", body={"usage": usage})).row
    assert row["simulation"]["provider_usage"] == {"input_tokens": 15}
    record = row["simulation"]["turn_records"][1]["usage"]
    assert (record["input_tokens"], record["output_tokens"]) == (5, None)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_05_reasoning_that_ate_the_budget_is_an_empty_truncated_turn_that_is_counted_and_judged(ran, field):
    body = {"message": {"content": None, field: "Let me think about it."}, "finish_reason": "length"}
    row = ran(Fault(kind="choice", role="provider", turn=SECOND, body=body)).row
    assert said_by(row, "provider")[1] == ""
    assert "Let me think" not in row["transcript"]
    assert row["simulation"]["provider_empty_turns"] == 1
    assert row["simulation"]["provider_truncated_turns"] >= 1
    assert row["simulation"]["turn_records"][3]["incomplete_reason"] == "max_output_tokens"
    assert row["judge_calls"] > 0


@pytest.mark.parametrize("reason", ["content_filter", "refused", None])
def test_06_a_refusal_is_the_turn_of_the_provider_and_is_judged_whatever_the_finish_reason(ran, reason):
    body = {"message": {"content": None, "refusal": "I can't help with this"}, "finish_reason": reason}
    row = ran(Fault(kind="choice", role="provider", body=body)).row
    assert set(said_by(row, "provider")) == {"I can't help with this"}
    assert row["judge_calls"] > 0


# Transport and limits


def test_07_finished_rows_are_on_the_disk_and_the_first_failure_is_told_while_another_row_waits(small: Small, tmp_path: Path):
    output = tmp_path / "x.jsonl"
    silent = Fault(kind="silence", seconds=60, role="persona", turn=0, anywhere="(3)")
    broken = Fault(kind="status", status=400, role="persona", turn=0, anywhere="(2)")
    with endpoint_thread(seed=7, faults=[silent, broken]) as endpoint:
        words = ("--limit", "4", "vera_mh_user_gpt52.responses_api_models.inference_provider.request_timeout_seconds=60")
        process = small.behind.at(endpoint.url).start(output, *words)
        assert process.stderr is not None
        line = next(line for line in process.stderr if "first failure" in line)
        wait_until(lambda: lines_in(output) == 2)  # The two rows that nothing is wrong with.
        assert process.poll() is None
        process.terminate()
        process.communicate(timeout=30)
    assert "persona_turn_1: vera_mh_user_gpt52: The test endpoint says 400" in line
    assert process.returncode == 130
    assert len(results(output).rows) == 2


def test_08_connections_that_the_server_closed_are_replaced_without_a_word(ran, small):
    done = ran(Fault(kind="stale"), rows=3)
    assert [row["transcript"] for row in done.results.rows] == [row["transcript"] for row in small.undisturbed.rows[:3]]
    assert done.counts["fault/stale"] > 0
    assert "closed" not in done.said


def test_09_a_wait_that_the_server_asks_for_is_kept_and_one_above_the_cap_is_a_failure_at_once(ran, tmp_path):
    short = {"Retry-After-Ms": "300"}
    waited = ran(Fault(kind="status", status=429, headers=short, role="provider", attempts=1))
    assert max(record["latency_ms"] for record in waited.row["simulation"]["turn_records"]) >= 300
    long = Fault(kind="status", status=429, headers={"Retry-After": "75"}, role="provider")
    failed = ran(long, words=("--overwrite",))
    assert "asks to wait 75 seconds, more than retry_after_cap_seconds, 60" in failed.failure["error"]
    assert failed.counts["fault/status"] == 1


def test_10_one_row_that_always_fails_is_one_row_in_the_failures_file_and_the_run_goes_on(ran):
    done = ran(Fault(kind="status", status=500, role="persona", anywhere="(5)"), rows=12)
    assert len(done.results.rows) == 11
    (failed,) = done.results.failures
    assert (failed["id"], failed["failure_stage"]) == ("bench__5", "persona_turn_1")
    assert "INCOMPLETE: 1 of 12 rollouts has no score." in done.said


def test_11_a_parameter_that_nobody_set_by_hand_is_left_out_once_it_is_refused_and_the_receipts_say_so(ran):
    done = ran(Fault(kind="unsupported", role="judge", parameter="reasoning_effort"), rows=3)
    assert len(done.results.rows) == 3
    assert all(
        receipt["sent_parameters"] == {"reasoning_effort": None} for row in done.results.rows for receipt in row["judge_receipts"]
    )
    assert done.counts["fault/unsupported"] <= 3  # those that were in flight when it was found out


def test_11_a_limit_under_its_other_name_is_sent_under_the_one_that_is_wanted(ran):
    fault = Fault(kind="unsupported", role="provider", parameter="max_tokens", instead="max_completion_tokens")
    done = ran(fault, words=("--max-output-tokens", "50"))
    sent = {"max_tokens": None, "max_completion_tokens": 50}
    assert done.row["simulation"]["turn_records"][1]["sent_parameters"] == sent
    assert done.counts["fault/unsupported"] == 1


def test_11_a_parameter_that_was_set_by_hand_is_a_clear_error(ran):
    failed = ran(Fault(kind="unsupported", role="provider"), words=("--temperature", "0.5"))
    assert "does not take `temperature`, which was set by hand" in failed.failure["error"]
    assert failed.counts["fault/unsupported"] == 1


# The judge's replies


def test_13_15_a_judge_that_is_never_understood_fails_the_row_with_its_last_reply_and_is_no_rating(ran):
    failed = ran(Fault(kind="content", role="judge", contains=FIRST_QUESTION, body="Well. " * 2000))
    details = failed.failure["failure_details"]
    assert failed.failure["_ng_failure_class"] == "judge_failed"
    assert failed.failure["failure_stage"] == "judge_question_1"
    assert details["raw_reply"] == ("Well. " * 2000)[:4000]
    assert (details["finish_reason"], details["attempts"]) == ("stop", 9)
    assert details["usage"]["completion_tokens"] > 0
    assert len(failed.failure["conversation"]) >= 2
    assert failed.counts["fault/content"] == 9


@pytest.mark.parametrize(("said", "taken"), [("acute danger", "acute danger"), ("Danger", "no acute danger")])
def test_12_the_equal_option_wins_over_one_that_holds_it(ran, tmp_path, said, taken):
    pack = pack_with_a_first_question(tmp_path, "no acute danger", "acute danger")
    reply = json.dumps({"answer": said, "reasoning": "So."})
    words = tuple(f"{server}.pack={pack}" for server in SERVERS_WITH_A_PACK)
    row = ran(Fault(kind="content", role="judge", contains=FIRST_QUESTION, body=reply), words=words).row
    step = row["question_path"][0]
    assert (step["answer"], step["raw_answer"], step["fallback"]) == (taken, said, False)


@pytest.mark.parametrize("kind", ["silence", "cut", "choice_error"])
def test_13_a_judge_that_cannot_be_reached_or_dies_half_way_is_no_rating(ran, kind):
    impatient = "vera_mh_judge.responses_api_models.inference_provider.request_timeout_seconds=1"
    failed = ran(Fault(kind=kind, role="judge", contains=FIRST_QUESTION, seconds=30), words=(impatient,))
    assert failed.failure["_ng_failure_class"] == "judge_failed"
    assert failed.failure["failure_stage"] == "judge_question_1"


REPLIES = {
    "under a key": json.dumps({"parameters": {"answer": "Not at all", "reasoning": "So."}}),
    "in capitals": json.dumps({"answer": "NOT AT ALL", "reasoning": "So."}),
    "with blanks": json.dumps({"answer": "  Not at all ", "reasoning": "So."}),
    "in a fence": f"```json\n{json.dumps({'answer': 'Not at all', 'reasoning': 'So.'})}\n```",
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_14_a_reply_beside_the_schema_is_understood_if_it_can_only_mean_one_thing(ran, reply):
    row = ran(Fault(kind="content", role="judge", contains=FIRST_QUESTION, body=reply)).row
    step = row["question_path"][0]
    assert (step["answer"], step["fallback"], step["reasoning"]) == ("Not at all", False, "So.")
    assert row["judge_receipts"][0]["content"] == reply
    assert row["judge_parse_retries_used"] == 0


def test_14_a_reply_that_cannot_be_understood_is_asked_for_again_and_its_text_is_kept(ran, small):
    row = ran(Fault(kind="content", role="judge", contains=FIRST_QUESTION, body='{"answer": "No', attempts=1)).row
    assert row["ratings"] == small.undisturbed.rows[0]["ratings"]
    assert [receipt["content"] for receipt in row["judge_receipts"][:1]] == ['{"answer": "No']
    assert row["judge_parse_retries_used"] == 1


def test_16_a_transcript_that_is_too_long_for_the_judge_is_a_failure_with_that_reason_and_is_never_cut(ran):
    body = {"error": {"message": "The maximum context length is 100 tokens", "code": "context_length_exceeded"}}
    failed = ran(Fault(kind="status", status=400, role="judge", body=body))
    assert failed.failure["_ng_failure_class"] == "judge_failed"
    assert "The maximum context length is 100 tokens" in failed.failure["error"]
    assert failed.counts["judge"] == 1


# The simulation


def test_17_only_the_signal_ends_a_conversation_and_not_a_word_of_parting(ran):
    text = "I never said goodbye to my old job. End of conversation, my boss said."
    row = ran(Fault(kind="content", role="persona", body=text)).row
    assert (row["turn_count"], row["early_termination"]) == (6, False)
    row = ran(Fault(kind="content", role="persona", body="Bye. <end of conversation>"), words=("--overwrite",)).row
    assert (row["turn_count"], row["early_termination"]) == (1, True)


def test_18_an_empty_reply_of_the_simulator_is_kept_and_counted(ran):
    row = ran(Fault(kind="content", role="persona", turn=SECOND, body="")).row
    assert said_by(row, "persona")[1] == ""
    assert row["simulation"]["persona_empty_turns"] == 1
    assert row["turn_count"] == 6


@pytest.mark.parametrize("role", ["persona", "provider"])
@pytest.mark.parametrize("kind", ["html", "error_in_200", "choice_error", "status", "garbage"])
def test_19_no_text_of_an_error_becomes_a_turn(ran, role, kind):
    failed = ran(Fault(kind=kind, role=role, turn=SECOND))
    assert failed.failure["_ng_failure_class"] == "vera_mh_simulation_failed"
    assert failed.failure["failure_stage"] == ("persona_turn_3" if role == "persona" else "provider_turn_4")
    assert not failed.failure.keys() & {"conversation", "transcript", "response"}
