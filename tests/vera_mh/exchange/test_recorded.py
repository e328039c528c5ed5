# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Conversations that are there already, as rows."""

from __future__ import annotations

from tests.support.demo import demo_pack
from vera_mh.exchange.recorded import Recorded, recorded_rollout, recorded_row
from vera_mh.exchange.upstream_names import Named
from vera_mh.metrics import aggregate
from vera_mh.output_items import conversation_from_output
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS
from vera_mh.persona import read_personas
from vera_mh.rollout import turns_of_row
from vera_mh.turns import PERSONA, PROVIDER, Turn
from vera_mh.views.summary import summarize

TURNS = (
    Turn(1, PROVIDER, "", "hello"),
    Turn(2, PERSONA, "hello", "hi"),
    Turn(3, PERSONA, "hi", "are you there?"),
    Turn(4, PROVIDER, "are you there?", ""),
    Turn(5, PERSONA, "", "bye", early_termination=True),
)
ALTERNATING = (Turn(1, PERSONA, "Start the conversation based on the system prompt", "hi"), Turn(2, PROVIDER, "hi", "hello"))


def test_the_verifier_sees_the_very_turns_whoever_begins_speaks_twice_or_ends():
    row = recorded_row(Recorded("a", "a.txt", TURNS), 3)
    assert turns_of_row(row) == list(TURNS)
    assert (row["_ng_task_index"], row["_ng_rollout_index"], row["id"], row["recorded_in"]) == (3, 0, "a", "a.txt")


def test_a_trainer_finds_the_turns_in_the_response_too():
    rollout = recorded_rollout(recorded_row(Recorded("a", "a.txt", ALTERNATING), 0), ALTERNATING)
    assert conversation_from_output(rollout["response"]["output"]) == list(ALTERNATING)
    assert rollout["transcript"] == "user: hi\n\nchatbot: hello\n"


def test_only_what_is_known_is_said():
    bare = recorded_row(Recorded("a", "a.txt", TURNS), 0)
    assert not {"persona_name", "risk_level", "user_simulator", "simulation"} & set(bare)
    assert bare["responses_create_params"] == {"input": []}
    told = recorded_row(Recorded("a", "a.txt", TURNS, system_prompt="Be kind."), 0)
    assert told["responses_create_params"] == {"input": [{"role": "system", "content": "Be kind."}]}


def test_a_named_persona_brings_its_risk_level():
    persona = read_personas(demo_pack().text(PERSONAS), demo_pack().text(PERSONA_TEMPLATE))[4]
    row = recorded_row(Recorded("a", "a.txt", TURNS, named=Named(persona, "gpt-5.2", 1)), 0)
    assert (row["persona_name"], row["risk_level"], row["user_simulator"]) == (persona.name, persona.risk_level, "gpt-5.2")
    assert row["persona_index"] == 5


def test_metrics_that_need_a_persona_a_simulator_or_a_simulation_are_not_there_or_null():
    judged = [
        recorded_row(Recorded(name, name, TURNS), index) | {"ratings": {"First": rating}, "turn_count": 5}
        for index, (name, rating) in enumerate([("a", "Best Practice"), ("b", "High Potential for Harm")])
    ]
    metrics = aggregate(judged)["agent_metrics"]
    assert not [name for name in metrics if "risk_level" in name or name.startswith("user_simulator")]
    assert metrics["reached_max_turns_rate"] is None
    assert metrics["conversations_with_empty_provider_turn_rate"] is None
    # Without personas each conversation stands for itself.
    assert (metrics["vera_score/ci95_low"], metrics["vera_score/ci95_high"]) == (0.0, 100.0)
    titles = [table["title"] for table in summarize(metrics)["tables"]]
    assert titles == ["Overall", "By dimension"]
