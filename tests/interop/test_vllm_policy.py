# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's model server for vLLM as the policy, beside our judge and simulators, as in training: with token ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.both_hosts import models, under_ours
from tests.support.endpoint import Fault
from tests.support.likeness import ONLY_THEIRS, assert_same_metrics, differences, rows_of
from tests.support.nemo_gym import NemoGym
from tests.support.tokens import assert_joined

pytestmark = pytest.mark.interop

RUN = ("eval", "run", "--benchmark", "vera_mh", "--split", "benchmark", "--limit", "3")
WITH_TOKEN_IDS = "++policy_model.responses_api_models.vllm_model.return_token_id_information=true"

OWN_WORDS = "++policy_model.responses_api_models.vllm_model.propagate_context_overflow_errors=true"
TOO_LONG = "This model's maximum context length is 4096 tokens."
OF_THE_MODEL_SERVER = {
    "response",  # NVIDIA's server fills in more keys, and makes up the ids
    "simulation.duration_ms",
    "simulation.turn_records[].latency_ms",
    "simulation.turn_records[].model",  # it names the model as asked for, ours as served
    "simulation.turn_records[].response_id",
    "simulation.turn_records[].usage",  # it leaves out counts that nobody gave
}
"""Where two policy servers may differ although the chatbot behind them says the same."""


@pytest.fixture(scope="module")
def runs(nemo_gym: NemoGym, pack_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The same chatbot behind our model server under our host, and behind NVIDIA's under NVIDIA's."""
    folder = tmp_path_factory.mktemp("runs")
    ours, theirs = folder / "ours.jsonl", folder / "theirs.jsonl"
    with models(pack_folder) as played:
        under_ours(*RUN, *played.policy, output=ours, environ=played.environ)
        words = ("--model-type", "vllm_model", *played.policy, WITH_TOKEN_IDS)
        nemo_gym.evaluate(*RUN, *words, output=theirs, environ=played.environ)
        yield ours, theirs


def test_the_conversations_and_verdicts_are_those_of_our_own_model_server(runs):
    ours, theirs = runs
    for one, other in zip(rows_of(ours), rows_of(theirs), strict=True):
        assert differences(one, other, except_for=OF_THE_MODEL_SERVER | ONLY_THEIRS) == {}
        assert said_in(one["response"]["output"]) == said_in(other["response"]["output"])
    assert_same_metrics(ours, theirs)


def test_token_ids_and_log_probabilities_of_every_turn_arrive_in_order_and_join_into_one_sequence(runs):
    rows = rows_of(runs[1])
    assert len(rows) == 3
    for row in rows:
        assert assert_joined(row["response"]["output"]) == sum(turn["speaker"] == "provider" for turn in row["conversation"])


@pytest.mark.parametrize(("words", "error"), [((), "longer than the model's context length"), ((OWN_WORDS,), TOO_LONG)])
def test_a_conversation_that_outgrows_the_context_is_masked_and_its_turns_keep_their_tokens(
    nemo_gym, runs, pack_folder, tmp_path, words, error
):
    output, refusal = tmp_path / "full.jsonl", {"object": "error", "message": TOO_LONG, "code": 400}
    opening = rows_of(runs[0])[-1]["conversation"][0]["response"]
    full = Fault(kind="status", role="provider", turn=3, anywhere=opening, status=400, body=refusal)
    with models(pack_folder, full) as played:
        policy = ("--model-type", "vllm_model", *played.policy, WITH_TOKEN_IDS, *words)
        nemo_gym.evaluate(*RUN, *policy, output=output, environ=played.environ)
    assert [row["_ng_task_index"] for row in rows_of(output)] == [0, 1]
    (failed,) = rows_of(output, "_failures.jsonl")
    assert (failed["_ng_failure_class"], failed["failure_stage"]) == ("vera_mh_simulation_failed", "provider_turn_8")
    assert error in failed["error"]
    assert (failed["mask_sample"], failed["instance_config"], failed["reward"]) == (True, {"mask_sample": True}, 0.0)
    assert assert_joined(failed["response"]["output"]) == 3


def said_in(output: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Who said what in the messages of an output."""
    return [(item["role"], text_of(item["content"])) for item in output if item["type"] == "message" and text_of(item["content"])]


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
