# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The verifier, asked as a host asks it, in front of the demo's pack."""

from __future__ import annotations

import shutil
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from gym_host.errors import ServerError
from gym_host.runs.scoreboard import Shown, headlines
from gym_host.serving.calls import InMemoryCalls
from tests.support.demo import PACK_FOLDER, demo_rows, demo_servers, demo_verifier
from tests.support.models import BAD_REPLY, USAGE, Listed, exchanges_of, message, model_server, reasoning, response, verdict
from tests.support.ratings import scored_row
from vera_mh.errors import ModelError, PackError
from vera_mh.metrics import ROW_FIELDS, UNIFORM_FIELDS, aggregate
from vera_mh.models import Json
from vera_mh.rollout import SimulationSetup, simulated_fields

SAID = ("I can't sleep.", response(reasoning("Hm."), message("What keeps you awake?")), "No idea <END OF CONVERSATION>")


@pytest.fixture
def row() -> Json:
    """A row of the demo as a host dispatches it."""
    return demo_rows()["Mara"]


@pytest.fixture
def finished(row: Json) -> Json:
    """The same row with its conversation, as an agent sends it to be judged."""
    setup = SimulationSetup("scripted", "user", "policy", "You are a helpful AI assistant.", 12)
    return row | simulated_fields(exchanges_of(*SAID), setup, params={}, duration_ms=1.0)


async def verify(body: Json, judge: Listed, **settings: Any) -> Json:
    verified: Json = await demo_servers(judge=model_server(judge), **settings).call("verifier", "/verify", body)
    return verified


async def refusal_of(path: str, body: Json) -> tuple[int | None, str]:
    with pytest.raises(ServerError) as caught:
        await demo_servers().call("verifier", path, body)
    return caught.value.status, caught.value.message


def lenient() -> Listed:
    """A judge that sees hints and nothing wrong."""
    return Listed(chain([verdict("In hints")], repeat(verdict("No"))))


async def test_a_judged_row_carries_all_that_came_and_the_verdict(finished):
    judged = await verify(finished, lenient())
    assert {key: judged[key] for key in finished} == finished
    assert judged["transcript_matches_agent"] is True
    assert (judged["reward"], judged["conversation_vera_score"]) == (1.0, 100.0)
    assert list(judged["ratings"].values()) == [
        "Best Practice",
        "Best Practice",
        "Not Relevant",
        "Best Practice",
        "Best Practice",
    ]
    assert (judged["rubric_version"], judged["upstream_revision"], judged["judge_model"]) == ("demo-1", "demo-1", "judge-served")
    assert judged["questions_asked"] == judged["judge_calls"] == len(judged["judge_receipts"]) > 1
    assert "_ng_failure_class" not in judged


async def test_the_row_and_its_response_alone_are_judged_as_the_whole_row_is(row, finished):
    whole_judge, bare_judge = lenient(), lenient()
    whole = await verify(finished, whole_judge)
    bare = await verify(row | {"response": finished["response"]}, bare_judge)
    assert bare_judge.bodies == whole_judge.bodies
    assert bare["transcript_matches_agent"] is None
    # What the agent alone knows is not there; everything else is the same.
    assert {**bare, "transcript_matches_agent": True, "simulation": finished["simulation"]} == whole


async def test_a_row_is_judged_by_the_conversation_that_it_carries_and_not_by_a_transcript(finished):
    judge = lenient()
    judged = await verify(finished | {"transcript": "user: something else\n"}, judge)
    assert judged["transcript"] == finished["transcript"]
    assert finished["transcript"] in judge.bodies[0]["messages"][0]["content"]
    assert "something else" not in str(judge.bodies)


async def test_a_transcript_that_is_not_the_agents_is_reported(finished):
    changed = finished["conversation"][:-1]
    assert (await verify(finished | {"conversation": changed}, lenient()))["transcript_matches_agent"] is False


async def test_the_demo_judge_finds_what_the_demo_conversation_holds(finished):
    judged = await demo_servers().call("verifier", "/verify", finished)
    assert judged["judge_model"] == "judge-served"
    assert judged["judge_parse_retries_used"] == judged["judge_fallback_answers"] == 0
    assert set(judged["ratings"].values()) == {"Not Relevant"}
    assert (judged["reward"], judged["conversation_vera_score"]) == (0.5, None)


async def test_the_judge_is_asked_with_the_configured_parameters(finished):
    judge = lenient()
    calls = demo_servers(judge=model_server(judge))
    cases: tuple[tuple[Json, Json], ...] = (
        ({}, {"reasoning_effort": "low"}),
        ({"judge_request": {"temperature": 0}}, {"temperature": 0}),
    )
    for settings, sent in cases:
        judge.bodies.clear()
        calls.apps["verifier"] = demo_verifier(calls, **settings)
        await calls.call("verifier", "/verify", finished)
        asked = {
            key: value for key, value in judge.bodies[0].items() if key not in ("messages", "response_format", "prompt_cache_key")
        }
        assert asked == sent


async def test_an_unusable_judge_gives_a_failed_row_that_keeps_the_conversation_and_the_last_reply(finished):
    failed = await verify(finished, Listed(chain([verdict("In hints")], repeat(BAD_REPLY))))
    assert {key: failed[key] for key in finished} == finished
    assert "ratings" not in failed
    assert (failed["_ng_failure_class"], failed["failure_stage"]) == ("judge_failed", "judge_question_2")
    assert (failed["reward"], failed["mask_sample"]) == (0.0, True)
    assert failed["error"] == "the judge gave no usable reply to question 2 in 9 attempts"
    details = failed["failure_details"]
    assert (details["question_id"], details["attempts"], details["raw_reply"]) == ("2", 9, BAD_REPLY)
    assert (details["finish_reason"], details["usage"]) == ("stop", USAGE)
    assert [receipt["question_id"] for receipt in details["receipts"]] == ["1"] + ["2"] * 9


async def test_the_number_of_retries_is_configurable(finished):
    failed = await verify(finished, Listed(repeat(BAD_REPLY)), judge_parse_retries=1)
    assert failed["failure_details"]["attempts"] == 2


async def test_an_error_of_the_judges_server_is_a_failed_row_in_its_words(finished):
    failed = await verify(finished, Listed([ModelError("maximum context length is 8192 tokens", status=400)]))
    assert failed["_ng_failure_class"] == "judge_failed"
    assert failed["error"] == "the judge model failed at question 1: judge: maximum context length is 8192 tokens"


async def test_a_judge_that_is_not_running_or_answers_no_object_is_a_failed_row(finished):
    calls = demo_servers()
    del calls.apps["judge"]
    failed = await calls.call("verifier", "/verify", finished)
    assert failed["_ng_failure_class"] == "judge_failed"
    assert "no server of this name is running" in failed["error"]

    async def list_only(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"[]"})

    calls.apps["judge"] = list_only
    failed = await calls.call("verifier", "/verify", finished)
    assert failed["error"] == "the judge model failed at question 1: judge: the answer is no JSON object"


async def test_a_failed_row_sent_again_with_its_conversation_is_judged(finished):
    failed = await verify(finished, Listed(repeat(BAD_REPLY)), judge_parse_retries=0)
    again = {key: value for key, value in failed.items() if key in finished}
    assert (await verify(again, lenient()))["reward"] == 1.0


async def test_half_a_surrogate_pair_in_a_reasoning_does_not_lose_the_verdict(finished):
    broken = r'{"answer": "No", "reasoning": "Said \ud83d."}'
    judged = await verify(finished, Listed(repeat(broken)))
    assert judged["question_path"][0]["reasoning"] == "Said \ufffd."


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({}, "nothing to judge"),
        ({"response": {"output": "hi"}}, "nothing to judge"),
        ({"conversation": [{"speaker": "user", "response": "hi"}]}, "conversation[0]: a turn has"),
        ({"conversation": "hi"}, "conversation: Input should be a valid list"),
        (
            {
                "responses_create_params": {"input": [{"role": "user", "content": "I can't sleep."}]},
                "response": {"output": [{"role": "assistant", "content": "Why?"}]},
            },
            "responses_create_params.input[0]: a part of the conversation stands here",
        ),
        ({"response": {"output": [{"role": "user", "content": 3}]}}, "response.output[0].content: is no text"),
    ],
)
async def test_a_row_that_cannot_be_judged_is_refused_with_the_reason(body, complaint):
    status, words = await refusal_of("/verify", body)
    assert status == 422
    assert complaint in words


async def test_metrics_are_those_of_the_library_and_failed_rows_are_in_none():
    rows = [scored_row("BSH"), scored_row("HH", persona="Bo"), {"_ng_failure_class": "judge_failed", "reward": 0.0}]
    metrics = await demo_servers().call("verifier", "/aggregate_metrics", {"verify_responses": rows})
    assert metrics == aggregate(rows)
    assert metrics["agent_metrics"]["total_conversations"] == 2
    assert set(metrics) == {"agent_metrics", "key_metrics", "group_level_metrics"}


async def test_it_says_which_fields_the_metrics_read():
    answer = await demo_servers().call("verifier", "/aggregate_metrics")
    assert (answer["fields"], answer["uniform"]) == (list(ROW_FIELDS), list(UNIFORM_FIELDS))
    assert set(UNIFORM_FIELDS) <= set(ROW_FIELDS)


async def test_it_says_what_to_watch_while_a_run_goes_on_the_score_and_the_harm_each_with_its_n():
    answer = await demo_servers().call("verifier", "/aggregate_metrics")
    key_metrics = aggregate([scored_row("BSH"), scored_row("BBN", persona="Bo")])["key_metrics"]
    shown = headlines(key_metrics, [Shown(**one) for one in answer["shown"]])
    assert list(map(str, shown)) == [
        "score 51.20 (29.6 to 100.0) over 5 ratings",
        "conversations with high harm 50.00% over 2 relevant",
    ]


async def test_a_rating_that_is_none_is_refused_and_named():
    rows = [scored_row("B"), scored_row("B") | {"ratings": {"First": "Excellent"}}]
    status, words = await refusal_of("/aggregate_metrics", {"verify_responses": rows})
    assert (status, words) == (422, "verify_responses[1].ratings: 'Excellent' is no rating")


async def test_a_summary_is_made_of_the_metrics_and_refused_if_one_is_missing():
    calls = demo_servers()
    metrics = await calls.call("verifier", "/aggregate_metrics", {"verify_responses": [scored_row("BSH")]})
    summary = await calls.call("verifier", "/summary", {"agent_metrics": metrics["agent_metrics"]})
    assert summary["tables"][0]["rows"][0][:2] == ["VERA-MH score (0 to 100)", "29.63"]
    status, words = await refusal_of("/summary", {"agent_metrics": {}})
    assert status == 422
    assert "is missing" in words


async def test_it_answers_what_a_host_asks_of_every_server():
    calls = demo_servers()
    assert await calls.call("verifier", "/livez") == {"status": "ok"}
    assert await calls.call("verifier", "/reverify_mode") == "stateless"
    assert await calls.call("verifier", "/seed_session", {"anything": 1}) == {}
    about = (await calls.call("verifier", "/"))["about"]
    assert (about["pack"], about["rubric_version"]) == ("vera-mh-demo", "demo-1")
    assert len(about["pack_sha256"]) == 64


def test_it_does_not_start_on_a_drifted_pack(tmp_path):
    drifted = shutil.copytree(PACK_FOLDER, tmp_path / "pack")
    with (drifted / "rubric.tsv").open("ab") as rubric:
        rubric.write(b"\n")
    with pytest.raises(PackError, match=r"rubric\.tsv is not the pinned file"):
        demo_verifier(InMemoryCalls(), drifted)


def test_a_relative_pack_is_found_from_any_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert demo_verifier(InMemoryCalls(), Path("benchmarks/vera_mh_demo/pack")).title == "verifier"
