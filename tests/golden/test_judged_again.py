# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A conversation is judged the same from its row and `response` alone as from the full row, whatever shape it has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import JsonBytes
from tests.support.demo import demo_rows, demo_verifier
from tests.support.models import message, reasoning, response
from tests.support.replies import completion, digest_of
from vera_mh.models import Json
from vera_mh.pack import VERA_MH
from vera_mh.rollout import SimulationSetup, simulated_fields
from vera_mh.turns import PERSONA, PROVIDER, Exchange, Turn, conversation_from_json, ends_conversation

SETUP = SimulationSetup("scripted", "user", "policy", "You are a helpful AI assistant.", 12)
UNKNOWN = {"transcript_matches_agent", "simulation"}
"""What the row and `response` alone do not tell."""


@pytest.fixture
def verifier(pack_folder: Path, monkeypatch: pytest.MonkeyPatch) -> InMemoryCalls:
    """The real verifier with the real rubric, and a judge whose answers hang on every character that it is shown."""
    monkeypatch.setenv("VERA_MH_PACK", str(pack_folder))
    judge = FastAPI()

    @judge.post("/v1/chat/completions")
    async def judged(body: dict[str, Any]) -> JsonBytes:
        return JsonBytes(completion("judge", body, 5, digest_of(5, body["messages"])))

    calls = InMemoryCalls({"judge": judge})
    calls.apps["verifier"] = demo_verifier(calls, Path(VERA_MH.name))
    return calls


def conversations(folder: Path) -> Iterator[list[Turn]]:
    """Every recorded conversation that an agent can have produced, once: the sides take turns, and the persona ends it.

    Where one goes on behind its end, as the recorded ones may, it is judged up to there too.
    """
    seen = set()
    with (folder / "conversations.jsonl").open("rb") as lines:
        for line in lines:
            turns = conversation_from_json(json.loads(line)["conversation"])
            for part in (turns, _ended(turns)):
                said = tuple((turn.speaker, turn.response) for turn in part)
                if said not in seen and _as_produced(part):
                    seen.add(said)
                    yield part


def _ended(turns: list[Turn]) -> list[Turn]:
    end = next((place for place, turn in enumerate(turns) if turn.early_termination), len(turns))
    return turns[: end + 1]


def _as_produced(turns: list[Turn]) -> bool:
    in_turn = all(one.speaker != other.speaker for one, other in pairwise(turns))
    return (
        bool(turns)
        and in_turn
        and all(turn.early_termination == ends_conversation(turn.speaker, turn.response) for turn in turns)
    )


def produced(turns: list[Turn]) -> Json:
    """What the agent adds to a row for these turns; the chatbot's replies come in all shapes that say the same."""
    exchanges = [Exchange(turn, _answer(turn), "server", 1.0) for turn in turns]
    return simulated_fields(exchanges, SETUP, params={}, duration_ms=1.0)


def _answer(turn: Turn) -> Json:
    shape = turn.turn // 2 % 3 if turn.speaker == PROVIDER else 0
    if shape == 1:
        return response(reasoning("Hm."), message(turn.response))
    if shape == 2:
        return response(*([message(turn.response)] if turn.response else []))
    return response(message(turn.response))


async def test_every_recorded_conversation_has_the_same_verdict_from_its_row_and_response_alone(golden_folder, verifier):
    row = demo_rows()["Mara"]
    verdicts, shapes, count = set(), set(), 0
    for turns in conversations(golden_folder):
        full = row | produced(turns)
        whole = await verifier.call("verifier", "/verify", full)
        bare = await verifier.call("verifier", "/verify", row | {"response": full["response"]})
        assert "_ng_failure_class" not in whole
        assert (whole["transcript_matches_agent"], bare["transcript_matches_agent"]) == (True, None)
        assert without(bare, {"conversation"}) == without(whole, {"conversation"}), turns
        assert [said(turn) for turn in bare["conversation"]] == [said(turn) for turn in whole["conversation"]]
        verdicts.add(json.dumps([whole["ratings"], whole["question_path"]]))
        shapes |= shapes_of(turns)
        count += 1
    assert count > 200
    assert len(verdicts) > 0.9 * count  # The judge tells the conversations apart: equal verdicts are no accident.
    assert shapes == {"persona first", "provider first", "early stop", "empty turn", "braces", "fake labels"}


def without(row: Json, keys: set[str]) -> Json:
    return {key: value for key, value in row.items() if key not in keys | UNKNOWN}


def said(turn: Json) -> Json:
    """A turn without what its speaker was answering, which for the first one the recordings word otherwise."""
    return {key: value for key, value in turn.items() if key != "input" or turn["turn"] > 1}


def shapes_of(turns: list[Turn]) -> set[str]:
    found = {
        "persona first": turns[0].speaker == PERSONA,
        "provider first": turns[0].speaker == PROVIDER,
        "early stop": turns[-1].early_termination,
        "empty turn": any(turn.response == "" for turn in turns),
        "braces": any("{" in turn.response for turn in turns),
        "fake labels": any("chatbot: " in turn.response for turn in turns),
    }
    return {name for name, is_there in found.items() if is_there}
