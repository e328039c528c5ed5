# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a row that says it was made from a pack is what the pack makes.

A score bears the name of the pack. So a row that names the pack's revision must hold its persona unchanged: one with another
prompt, or with another risk level, would be played and counted as if it were the published one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vera_mh.models import Json
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS, Pack
from vera_mh.persona import Persona, read_personas

_MEND = (
    "make the rows anew (`gym tool vera_mh pack rows`), or leave `upstream` out of rows of your own, so that they do not say "
    "that they are of the pack"
)


def fields_of(persona: Persona) -> Json:
    """What a row of the benchmark holds of its persona."""
    return {
        "persona_index": persona.index,
        "persona_name": persona.name,
        "persona": dict(persona.cells),
        "persona_sha256": persona.digest,
        "persona_system_prompt": persona.system_prompt,
        "risk_level": persona.risk_level,
        "disclosure_level": persona.disclosure_level,
    }


class PackRows:
    """What the rows of one pack hold of its personas.

    Args:
        pack: The verified pack.

    Raises:
        RubricError: Its personas cannot be read.
    """

    def __init__(self, pack: Pack) -> None:
        self._manifest = pack.manifest
        personas = read_personas(pack.text(PERSONAS), pack.text(PERSONA_TEMPLATE))
        self._fields = {persona.name: fields_of(persona) for persona in personas}
        self._name_at = {persona.index: persona.name for persona in personas}

    def difference(self, row: Mapping[str, Any]) -> str | None:
        """Why a row is not what it says it is; None if it is, or if it does not say that it is of a pack."""
        upstream = row.get("upstream")
        if not isinstance(upstream, Mapping):
            return None
        revision, personas = upstream.get("revision"), upstream.get("personas_sha256")
        name = self._manifest.name
        if revision is not None and revision != self._manifest.revision:
            return f"the row was made from revision {revision}, but the pack {name} is {self._manifest.revision}"
        if personas is not None and personas != self._manifest.sha256[PERSONAS]:
            return f"the row was made from other personas than the pack {name} has: make the rows anew"
        return None if revision is None and personas is None else self._edited(row)

    def _edited(self, row: Mapping[str, Any]) -> str | None:
        index = row.get("persona_index")
        name = row.get("persona_name", self._name_at.get(index) if isinstance(index, int) else None)
        expected = self._fields.get(name) if isinstance(name, str) else None
        says = f"the row says that it is of the pack {self._manifest.name} (`upstream`)"
        if expected is None:
            return f"{says}, but names no persona of it in `persona_name`: {_MEND}"
        edited = [f"`{key}`" for key, value in expected.items() if key in row and row[key] != value]
        if not edited:
            return None
        return f"{says}, but what the pack has for its persona {name} differs in {', '.join(edited)}: {_MEND}"
