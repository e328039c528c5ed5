# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How upstream names the file of a conversation: `{tag}_{persona}_{model of the user simulator}_run{number}`.

Reproduces upstream's `utils/naming.py` and the names of `generate_conversations/runner.py` at the pinned commit.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vera_mh.persona import Persona
from vera_mh.tasks import RECOMMENDED_SIMULATORS

_NAME = re.compile(r"[0-9a-f]{6}_(?P<who>[^/\\\x00]+)_run(?P<run>[0-9]+)")
_TAG_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Named:
    """What the name of a conversation says.

    Attributes:
        persona: Who spoke with the chatbot.
        user_simulator: Which model played the persona: our name for it where we have one, else as it stands in the name.
        run: Number of the repeat, from 1.
    """

    persona: Persona
    user_simulator: str
    run: int


def model_token(model: str) -> str:
    """A model in a name: letters, digits and single underscores."""
    return re.sub(r"[^A-Za-z0-9]+", "_", model).strip("_")


def persona_token(name: str) -> str:
    """A persona in a name: no blanks, no dots, and nothing that would lead to another folder."""
    return re.sub(r"[ /\\\x00]", "_", name).replace(".", "")


def read_name(stem: str, personas: Iterable[Persona]) -> Named | None:
    """What a file's name (without its ending) says, or None if it is not of upstream's kind or names no known persona.

    Args:
        stem: The name.
        personas: The personas of the pack; where several fit, the longest name counts.
    """
    found = _NAME.fullmatch(stem)
    if found is None:
        return None
    who = found["who"]
    fitting = [persona for persona in personas if who.startswith(f"{persona_token(persona.name)}_")]
    if not fitting:
        return None
    persona = max(fitting, key=lambda persona: len(persona_token(persona.name)))
    return Named(persona, _simulator(who[len(persona_token(persona.name)) + 1 :]), int(found["run"]))


def _simulator(token: str) -> str:
    for simulator in RECOMMENDED_SIMULATORS:
        if token in (
            simulator.name,
            simulator.upstream_model,
            model_token(simulator.name),
            model_token(simulator.upstream_model),
        ):
            return simulator.name
    return token


def conversation_name(row: Mapping[str, Any]) -> str:
    """The name of a row's conversation, without an ending: the same for the same id and repeat.

    A row whose id ends in such a name keeps it. One without a persona is named after its id.
    """
    name, repeat = str(row.get("id") or ""), int(row.get("_ng_rollout_index") or 0)
    if _NAME.fullmatch(name.rpartition("/")[2]) and not repeat:
        return name.rpartition("/")[2]
    if not row.get("persona_name"):
        plain = re.sub(r"[^\w.-]+", "_", name).strip("_.") or "conversation"
        return f"{plain}_run{repeat + 1}" if repeat else plain
    tag = hashlib.sha256(f"{name}\t{repeat}".encode("utf-8", "replace")).hexdigest()[:_TAG_LENGTH]
    model = model_token(str(row.get("user_simulator_upstream_model") or row.get("user_simulator") or "unknown"))
    return file_stem(tag, persona_token(str(row["persona_name"])), model, repeat + 1)


def file_stem(tag: str, persona: str, model: str, run: int) -> str:
    """A name from its parts. Upstream's scorer takes the persona to be what stands between the first two underscores."""
    return f"{tag}_{persona}_{model}_run{run}"
