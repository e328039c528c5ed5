# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""An endpoint that refuses every call, for its address, its key, its model or a parameter, and one that refuses some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.conftest import Small
from tests.support.behind import results, small_benchmark
from tests.support.components import read_jsonl, write_jsonl
from tests.support.endpoint import Fault, endpoint_thread

ONE_ATTEMPT = {"NEMO_GYM_MAX_ROLLOUT_ATTEMPTS": "1"}
HELD = "no further rollouts are begun until those that run have ended, since {} refused "
STOPPED, GOES_ON = "the run is stopped", "the run goes on after all"
NEXT = "next: mend what {} refused (above), then run the same command with --resume"


@pytest.mark.parametrize(("status", "hint"), [(404, "it usually ends in /v1"), (401, "set api_key"), (403, "api_key")])
def test_a_run_whose_chatbot_refuses_every_call_stops_and_goes_on_once_that_is_mended(
    small: Small, tmp_path: Path, status: int, hint: str
):
    there = results(tmp_path / "x.jsonl")
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=status, role="provider")]) as endpoint:
        wrong = small.behind.at(endpoint.url)
        out, err = wrong.run(there.files.rollouts, "--concurrency", "2", code=1)
        assert HELD.format("policy_model") in err
        assert STOPPED in err
        assert 5 <= len(there.failures) < 12
        assert endpoint.counts["persona"] == endpoint.counts["provider"] == len(there.failures)
        refused = f"  policy_model refused {len(there.failures)} calls and answered none: "
        assert f"{refused}The test endpoint says {status} (HTTP {status} from" in out
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
    assert HELD.format("vera_mh_judge") in err
    assert STOPPED in err
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
        assert STOPPED in err
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
    assert "and answered none" not in out
    assert out.splitlines()[-1].startswith("next: run the same command with --resume; ")


def test_a_conversation_that_is_too_long_is_no_reason_to_stop(small: Small, tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    body = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=400, role="provider", body=body)]) as endpoint:
        out, _ = small.behind.at(endpoint.url).run(there.files.rollouts, "--concurrency", "1", code=1)
    assert len(there.failures) == 12
    assert out.splitlines()[-1].startswith(f"next: see in {there.files.failures} why nothing is scored, then run the same")


def test_single_conversations_that_are_refused_at_once_while_others_take_their_time_end_no_run(tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    refused = Fault(kind="status", status=403, role="provider", turn=0, probability=1 / 8)
    with endpoint_thread(seed=7, faults=[refused, Fault(kind="slow", seconds=1, role="provider", turn=0)]) as endpoint:
        behind = small_benchmark(tmp_path, rows=96, max_turns=2).behind(endpoint.url)
        out, err = behind.run(there.files.rollouts, "--concurrency", "64", code=1)
    assert HELD.format("policy_model") in err
    assert GOES_ON in err
    assert STOPPED not in err
    assert len(there.failures) == endpoint.counts["fault/status"] > 5
    assert len(there.rows) == 96 - len(there.failures)
    assert "and answered none" not in out
    assert out.splitlines()[-1].startswith("next: run the same command with --resume; ")
    assert "failures_forgiven" not in there.record


def test_a_server_that_refuses_its_first_calls_and_then_answers_ends_no_run(tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    faults = [Fault(kind="status", status=404, role="provider", first=6), Fault(kind="slow", seconds=1, role="provider", turn=0)]
    with endpoint_thread(seed=7, faults=faults) as endpoint:
        behind = small_benchmark(tmp_path, rows=24, max_turns=2).behind(endpoint.url)
        _, err = behind.run(there.files.rollouts, "--concurrency", "8", code=1)
    assert HELD.format("policy_model") in err
    assert GOES_ON in err
    assert (len(there.failures), len(there.rows)) == (6, 18)


def test_one_simulator_that_is_refused_costs_no_row_of_the_other_and_the_end_says_what_can_be_mended(tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    with (
        endpoint_thread(seed=7) as endpoint,
        endpoint_thread(seed=7, faults=[Fault(kind="status", status=404)]) as wrong,
    ):
        behind = small_benchmark(tmp_path, rows=40, max_turns=2).behind(endpoint.url)
        at = f"vera_mh_user_opus45.responses_api_models.inference_provider.base_url={wrong.url}"
        out, err = behind.run(there.files.rollouts, "--concurrency", "16", at, code=1)
    refused = [row for row in read_jsonl(there.files.inputs) if row["user_simulator"] == "claude-opus-4-5"]
    assert STOPPED not in err
    assert 5 < len(there.failures) == len(refused) < 40
    assert len(there.rows) == 40 - len(refused)
    assert f"  vera_mh_user_opus45 refused {len(refused)} calls and answered none: The test endpoint says 404" in out
    assert out.splitlines()[-1].startswith(NEXT.format("vera_mh_user_opus45"))
    assert "only the key may be another one" in out.splitlines()[-1]


def test_what_an_earlier_start_scored_counts_so_that_a_resume_is_not_stopped(tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    faults = [Fault(kind="status", status=403, role="provider", anywhere=f"assistant. ({row})") for row in range(1, 12)]
    with endpoint_thread(seed=7, faults=faults) as endpoint:
        behind = small_benchmark(tmp_path, rows=12, max_turns=2).behind(endpoint.url)
        for words in (["--concurrency", "12"], ["--resume", "--concurrency", "1"], ["--resume", "--concurrency", "1"]):
            out, err = behind.run(there.files.rollouts, *words, code=1)
            assert "no further rollouts" not in err
            assert ("  policy_model refused 11 calls and answered none: " in out) == ("--resume" in words)
    assert (len(there.rows), len(there.failures)) == (1, 33)
    # None of the failures was forgiven, so that no attempts are left.
    assert "no attempts are left" in out.splitlines()[-1]


def test_what_failed_for_good_stays_so_where_a_run_is_stopped(tmp_path: Path):
    there = results(tmp_path / "x.jsonl")
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=401, role="provider")]) as endpoint:
        made = small_benchmark(tmp_path, rows=12, max_turns=2)
        path = tmp_path / "rows.jsonl"
        first, *others = read_jsonl(path)
        write_jsonl(path, [first | {"user_simulator": "nobody"}, *others])
        _, err = made.behind(endpoint.url).run(there.files.rollouts, "--concurrency", "1", code=1)
    assert STOPPED in err
    assert there.record["failures_forgiven"] == len(there.failures) < 12
    with endpoint_thread(seed=7) as endpoint:
        made.behind(endpoint.url).run(there.files.rollouts, "--resume", "--concurrency", "12", code=1, environ=ONE_ATTEMPT)
    assert len(there.rows) == 11
