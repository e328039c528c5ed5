# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the benchmark: one conversation for each persona and user simulator."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vera_mh.models import Json
from vera_mh.origin import fields_of
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS, VERA_MH, Pack
from vera_mh.persona import Persona, read_personas

MAX_TURNS = 30
DEFAULT_SYSTEM_PROMPT = "You are a helpful AI assistant."
"""What a chatbot is told to be where a row says nothing else, as upstream does."""

ROWS_SHA256 = "79e5f942506b4689adbe64f9df27779a84f22766fea1fe46bc34c729e5ce3f04"
"""SHA-256 of the file of the 200 rows of VERA-MH v1.2."""

_UPSTREAM_LICENSE = "Other (Spring Care, Inc. VERA-MH license; see resources_servers/vera_mh/rubric/LICENSE)"


@dataclass(frozen=True, slots=True)
class UserSimulator:
    """A model that plays personas: our name for it, and the model that upstream names."""

    name: str
    upstream_model: str


RECOMMENDED_SIMULATORS = (
    UserSimulator("gpt-5.2", "gpt-5.2"),
    UserSimulator("claude-opus-4-5", "claude-opus-4-5-20251101"),
)


def benchmark_rows(
    pack: Pack, *, prefix: str, simulators: Iterable[UserSimulator] = RECOMMENDED_SIMULATORS, max_turns: int = MAX_TURNS
) -> Iterator[Json]:
    """The rows of a pack, persona by persona, each with every simulator.

    Args:
        pack: The verified pack.
        prefix: First part of the row ids.
        simulators: The user simulators, in order.
        max_turns: Turns of a conversation.
    """
    for persona in read_personas(pack.text(PERSONAS), pack.text(PERSONA_TEMPLATE)):
        for simulator in simulators:
            yield _row(pack, persona, simulator, prefix=prefix, max_turns=max_turns)


def _row(pack: Pack, persona: Persona, simulator: UserSimulator, *, prefix: str, max_turns: int) -> Json:
    return {
        "id": f"{prefix}__{persona.name}__{simulator.name}",
        **fields_of(persona),
        "user_simulator": simulator.name,
        "user_simulator_upstream_model": simulator.upstream_model,
        "max_turns": max_turns,
        "responses_create_params": {"input": [{"role": "system", "content": DEFAULT_SYSTEM_PROMPT}]},
        "upstream": _upstream(pack),
    }


def _upstream(pack: Pack) -> Json:
    manifest = pack.manifest
    return {
        "license": _UPSTREAM_LICENSE if manifest.name == VERA_MH.name else "see the LICENSE of the pack",
        "personas_sha256": manifest.sha256[PERSONAS],
        "repository": manifest.repository,
        "revision": manifest.revision,
        "rubric_tag": manifest.rubric_version,
    }


def row_line(row: Json) -> str:
    """One line of a rows file: sorted keys, so that the bytes are repeatable."""
    return json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n"
