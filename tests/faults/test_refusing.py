# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An endpoint that refuses every call, for its address, its key, its model or a parameter, and one that refuses some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.conftest import Small
from tests.support.behind import results
from tests.support.endpoint import Fault, endpoint_thread

ONE_ATTEMPT = {"NEMO_GYM_MAX_ROLLOUT_ATTEMPTS": "1"}
STOPPED = "no further rollouts are started, since {} refused every call; those that run are finished"
NEXT = "next: mend what {} refused (above), then run the same command with --resume"


@pytest.mark.parametrize(("status", "hint"), [(404, "it usually ends in /v1"), (401, "set api_key"), (403, "api_key")])
def test_a_run_whose_chatbot_refuses_every_call_stops_and_goes_on_once_that_is_mended(
    small: Small, tmp_path: Path, status: int, hint: str
):
    there = results(tmp_path / "x.jsonl")
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=status, role="provider")]) as endpoint:
        wrong = small.behind.at(endpoint.url)
        out, err = wrong.run(there.files.rollouts, "--concurrency", "2", code=1)
        assert STOPPED.format("policy_model") in err
        assert 5 <= len(there.failures) < 12
        assert endpoint.counts["persona"] == endpoint.counts["provider"] == len(there.failures)
        assert f"  policy_model refused every call: The test endpoint says {status} (HTTP {status} from" in out
        assert hint in out
        assert out.splitlines()[-1].startswith(NEXT.format("policy_model"))
        # Once more the same costs no attempt either.
        out, _ = wrong.run(there.files.rollouts, "--resume", "--concurrency", "2", code=1, environ=ONE_ATTEMPT)
        assert out.splitlines()[-1].startswith(NEXT.format("policy_model"))
    small.behind.run(there.files.rollouts, "--resume", environ=ONE_ATTEMPT)
    small.must_be(there.files.rollouts)


def test_conversations_that_run_when_the_judge_refuses_every_call_are_finished_and_kept(small: Small, tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=401, role="judge")]) as endpoint:
        judge = f"vera_mh_judge.responses_api_models.inference_provider.base_url={endpoint.url_of('judge')}"
        _, err = small.behind.run(there.files.rollouts, "--concurrency", "2", judge, code=1)
    assert STOPPED.format("vera_mh_judge") in err
    kept = {row["id"] for row in there.failures if row["conversation"]}
    assert 5 <= len(kept) == len(there.failures) < 12
    small.behind.run(there.files.rollouts, "--resume", environ=ONE_ATTEMPT)
    small.must_be(there.files.rollouts)
    simulated = {row["id"]: row["simulation"]["turn_records"] for row in there.failures}
    assert {row["id"]: row["simulation"]["turn_records"] for row in there.rows if row["id"] in kept} == simulated


def test_a_parameter_that_the_endpoint_refuses_can_be_left_out_of_the_command(small: Small, tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    with endpoint_thread(seed=7, faults=[Fault(kind="unsupported", parameter="temperature", role="provider")]) as endpoint:
        words = ("--concurrency", "2", "--temperature", "0.3")
        out, err = small.behind.at(endpoint.url).run(there.files.rollouts, *words, code=1)
        assert STOPPED.format("policy_model") in err
        assert "does not take `temperature`" in out
        small.behind.at(endpoint.url).run(there.files.rollouts, "--resume", environ=ONE_ATTEMPT)
    assert len(there.rows) == 12


def test_with_overwrite_the_last_line_says_what_to_write_in_its_place(small: Small, tmp_path: Path):
    there = small.copy(tmp_path)
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=401)]) as endpoint:
        out, _ = small.behind.at(endpoint.url).run(there.files.rollouts, "--overwrite", code=1)
    assert "run the same command with --resume in place of --overwrite" in out.splitlines()[-1]


def test_a_run_of_which_some_calls_are_refused_goes_on_to_its_end(small: Small, tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    faults = [Fault(kind="status", status=403, role="provider", turn=0, probability=0.5)]
    with endpoint_thread(seed=7, faults=faults) as endpoint:
        out, err = small.behind.at(endpoint.url).run(there.files.rollouts, code=1)
    assert len(there.failures) + len(there.rows) == 12
    assert 0 < len(there.failures) < 12
    assert "no further rollouts" not in err
    assert "refused every call" not in out
    assert out.splitlines()[-1].startswith("next: run the same command with --resume; ")


def test_a_conversation_that_is_too_long_is_no_reason_to_stop(small: Small, tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    body = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=400, role="provider", body=body)]) as endpoint:
        out, _ = small.behind.at(endpoint.url).run(there.files.rollouts, "--concurrency", "1", code=1)
    assert len(there.failures) == 12
    assert out.splitlines()[-1].startswith(f"next: see in {there.files.failures} why nothing is scored, then run the same")
