# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A thousand conversations at once, separate limits, and keys that are seen nowhere."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.faults.conftest import Small
from tests.support.behind import results, small_benchmark
from tests.support.components import snapshot
from tests.support.endpoint import Fault, endpoint_process, endpoint_thread

MANY = 1000
KEY, PASSWORD, TOKEN, HEADER = "sk-key-0123456789", "pass-word-012345", "token-0123456789", "header-012345678"
PERSONAS = ("vera_mh_user_gpt52", "vera_mh_user_opus45")
MODEL = "policy_model.responses_api_models.inference_provider"


@pytest.mark.skipif(resource.getrlimit(resource.RLIMIT_NOFILE)[1] in range(4 * MANY), reason="needs thousands of open files")
def test_33_a_thousand_conversations_are_in_progress_at_once_and_all_are_scored(small: Small, tmp_path: Path):
    made = small_benchmark(tmp_path, rows=MANY, max_turns=2)
    # No persona says its first words before all of them are asked for theirs.
    with endpoint_process(seed=7, faults=[Fault(kind="together", role="persona", turn=0, period=MANY)]) as url:
        behind = made.behind(url)
        patient = [f"{model}.responses_api_models.inference_provider.request_timeout_seconds=60" for model in PERSONAS]
        words = behind.command(tmp_path / "x.jsonl", "--concurrency", str(MANY), *patient)
        end = small.lives.live(words, environ=behind.environ)
        stats = behind.ask("/stats")
    assert end.code == 0, end.said
    assert stats["max_concurrency"] == MANY
    assert len(results(tmp_path / "x.jsonl").rows) == MANY


def test_33_a_judge_that_asks_ahead_may_open_more_connections_than_there_are_conversations(tmp_path: Path):
    at_once = 24

    def few_files() -> None:
        """As many as the conversations need, if each waits for one call."""
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * at_once + 64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    made = small_benchmark(tmp_path, rows=at_once, max_turns=2)
    with endpoint_process(seed=7, latency=0.3) as url:
        words = ("--concurrency", str(at_once), "vera_mh.resources_servers.vera_mh.judge_speculation=on")
        made.behind(url).run(tmp_path / "x.jsonl", *words, before=few_files)
    done = results(tmp_path / "x.jsonl")
    assert len(done.rows) == at_once
    assert not done.failures


def test_33_each_endpoint_has_a_limit_of_its_own(small: Small, tmp_path: Path):
    limited = f"{MODEL}.num_concurrent_requests=2"
    with endpoint_process(seed=7, latency=0.02) as url:
        behind = small.behind.at(url)
        end = small.lives.live(behind.command(tmp_path / "x.jsonl", limited), environ=behind.environ)
        stats = behind.ask("/stats")
    assert end.code == 0, end.said
    assert stats["max_concurrency_of"]["provider"] == 2
    assert stats["max_concurrency_of"]["persona"] > 2


def test_34_no_key_is_seen_in_a_file_or_in_what_is_said_even_if_the_endpoint_repeats_it(small: Small, tmp_path: Path):
    echo = {"error": {"message": f"Incorrect key {KEY} ({HEADER}) of user:{PASSWORD}, sig={TOKEN}", "code": 401}}
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=401, role="provider", body=echo)], record=True) as endpoint:
        behind = small.behind.at(endpoint.url)
        place = endpoint.url_of("provider").replace("://", f"://user:{PASSWORD}@")
        words = (
            f"{MODEL}.api_key={KEY}",
            f"{MODEL}.base_url='{place}?sig={TOKEN}'",
            f"+{MODEL}.default_headers={{x-secret: {HEADER}}}",
        )
        end = small.lives.live(behind.command(tmp_path / "x.jsonl", *words, "-v"), environ=behind.environ)
        config = ["env", "resolve", *behind.words[:2], *words]
        shown = small.lives.live(config, environ=behind.environ)
    assert end.code == 1, end.said
    assert shown.code == 0, shown.said
    (asked, *_) = [request for request in endpoint.requests if request.role == "provider"]
    assert (asked.headers["authorization"], asked.headers["x-secret"]) == (f"Bearer {KEY}", HEADER)
    everything = [end.said, shown.said, *(content.decode() for content in snapshot(tmp_path).values())]
    assert any("Incorrect key" in text for text in everything)
    for secret in (KEY, PASSWORD, TOKEN, HEADER):
        assert not [text for text in everything if secret in text]
