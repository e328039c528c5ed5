# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How upstream names the file of a conversation."""

from __future__ import annotations

import pytest

from vera_mh.exchange.upstream_names import Named, conversation_name, model_token, read_name
from vera_mh.persona import NAME, RISK_LEVEL, Persona
from vera_mh.tasks import RECOMMENDED_SIMULATORS

PERSONAS = [
    Persona(i, {NAME: name, RISK_LEVEL: "Low"}, "") for i, name in enumerate(("Ann", "Anna", "Ann Lee", "Jo B."), start=1)
]


def named(stem: str) -> tuple[str, str, int] | None:
    found = read_name(stem, PERSONAS)
    return (found.persona.name, found.user_simulator, found.run) if found else None


@pytest.mark.parametrize(
    ("stem", "found"),
    [
        ("1a84d1_Ann_g4o_run3", ("Ann", "g4o", 3)),
        ("000682_Anna_gemini-3-pro-preview_run22", ("Anna", "gemini-3-pro-preview", 22)),
        ("abcdef_Ann_Lee_gpt_5_2_run1", ("Ann Lee", "gpt-5.2", 1)),
        ("abcdef_Jo_B_claude_opus_4_5_20251101_run1", ("Jo B.", "claude-opus-4-5", 1)),
        ("abcdef_Zoe_gpt_5_2_run1", None),
        ("abcdef_Ann_run1", None),
        ("notatag_Ann_gpt_5_2_run1", None),
        ("abcdef_Ann_gpt_5_2", None),
        ("", None),
    ],
)
def test_a_name_tells_the_persona_that_the_pack_knows_the_simulator_and_the_run(stem, found):
    assert named(stem) == found


def test_without_personas_no_name_says_anything():
    assert read_name("1a84d1_Ann_g4o_run3", []) is None


@pytest.mark.parametrize(("model", "token"), [("gpt-5.2", "gpt_5_2"), ("org/model:free", "org_model_free"), ("_a__b_", "a_b")])
def test_a_model_becomes_letters_digits_and_single_underscores(model, token):
    assert model_token(model) == token


@pytest.mark.parametrize("persona", PERSONAS, ids=lambda persona: persona.name)
@pytest.mark.parametrize("simulator", RECOMMENDED_SIMULATORS, ids=lambda simulator: simulator.name)
def test_the_name_of_a_row_can_be_read_back(persona, simulator):
    row = {
        "id": f"vera_mh__{persona.name}__{simulator.name}",
        "_ng_rollout_index": 1,
        "persona_name": persona.name,
        "user_simulator": simulator.name,
        "user_simulator_upstream_model": simulator.upstream_model,
    }
    assert read_name(conversation_name(row), PERSONAS) == Named(persona, simulator.name, 2)


@pytest.mark.parametrize("row", [{"id": "abcdef_../../x_run1"}, {"id": "a", "persona_name": "../../x"}, {"id": "..\\..\\x"}])
def test_no_name_leads_out_of_its_folder(row):
    assert not set("/\\") & set(conversation_name(row))


def test_a_name_is_kept_and_a_conversation_without_a_persona_is_named_after_its_id():
    assert conversation_name({"id": "1a84d1_Ann_g4o_run3", "persona_name": "Ann"}) == "1a84d1_Ann_g4o_run3"
    assert conversation_name({"id": "logs/May 3"}) == "logs_May_3"
    assert conversation_name({"id": "../..", "_ng_rollout_index": 2}) == "conversation_run3"
    assert conversation_name({}) == "conversation"
