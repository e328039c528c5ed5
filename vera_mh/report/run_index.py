# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The index of a run, made in one pass over its rows: an entry for each conversation, and which models answered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from vera_mh.metrics import UNIFORM_FIELDS, check_row
from vera_mh.models import Json, Row
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT, UNRATED
from vera_mh.report.content import row_key
from vera_mh.report.decisive import fired
from vera_mh.score import conversation_score, is_relevant
from vera_mh.stored_row import mapping, mappings, text_of

LETTERS = {BEST_PRACTICE: "B", NEUTRAL: "S", HIGH_HARM: "H", NOT_RELEVANT: "N", UNRATED: "-"}


@dataclass(slots=True)
class RunIndex:
    """What the first screen and the list of a page need to know of all rows, gathered while they pass by.

    Attributes:
        entries: One for each conversation, in order, as the page's list wants them.
        dimensions: Names of the dimensions, in the order in which they were met.
        personas: Names of the personas.
        rated_personas: Those of them with any rating but Not Relevant.
        rated_alone: Conversations with any rating but Not Relevant, of which no persona is known.
        served: Who spoke (`provider`, `judge`, or a user simulator by name) -> model as served -> conversations.
        uniform: Field that should be the same in all rows -> its values.
        turn_limits: How many turns the conversations could have at the most.
        packs: Name and upstream revision of the packs that rated the rows.
    """

    entries: list[Json] = field(default_factory=list)
    dimensions: dict[str, None] = field(default_factory=dict)
    personas: set[str] = field(default_factory=set)
    rated_personas: set[str] = field(default_factory=set)
    rated_alone: int = 0
    served: defaultdict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    uniform: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    turn_limits: set[int] = field(default_factory=set)
    packs: set[tuple[str, str]] = field(default_factory=set)

    def watch(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Passes rows on, each once it is noted.

        Raises:
            RowError: A row holds no ratings, or one that is none.
        """
        for row in rows:
            check_row(row_key(row), row)
            self._note(row)
            yield row

    def complete_entries(self) -> list[Json]:
        """The entries once all rows went by, each with a rating for every dimension of the run (`-` where it has none)."""
        width = len(self.dimensions)
        return [entry | {"ratings": entry["ratings"].ljust(width, "-")} for entry in self.entries]

    def _note(self, row: Row) -> None:
        ratings: Mapping[str, str] = row["ratings"]
        self.dimensions |= dict.fromkeys(ratings)
        self.personas.add(text_of(row.get("persona_name")))
        if is_relevant(ratings) and row.get("persona_name"):
            self.rated_personas.add(str(row["persona_name"]))
        elif is_relevant(ratings):
            self.rated_alone += 1
        self._note_models(row)
        for name in UNIFORM_FIELDS:
            if row.get(name) is not None:
                self.uniform[name].add(str(row[name]))
        self.packs.add((text_of(row.get("pack")), text_of(row.get("upstream_revision"))))
        simulation = mapping(row.get("simulation"))
        entry = {
            "key": row_key(row),
            "id": text_of(row.get("id")),
            "persona": text_of(row.get("persona_name")),
            "simulator": text_of(row.get("user_simulator")),
            "risk": text_of(row.get("risk_level")),
            "repeat": int(row.get("_ng_rollout_index") or 0),
            "ratings": "".join(LETTERS[ratings.get(dimension, UNRATED)] for dimension in self.dimensions),
            "score": conversation_score(ratings),
            "turns": row.get("turn_count"),
            "early": bool(row.get("early_termination")),
            "cut": simulation.get("provider_truncated_turns") or 0,
            "empty": (simulation.get("provider_empty_turns") or 0) + (simulation.get("persona_empty_turns") or 0),
            "fired": fired(row),
        }
        self.entries.append({name: value for name, value in entry.items() if value or name in ("key", "ratings", "score")})

    def _note_models(self, row: Row) -> None:
        simulation = mapping(row.get("simulation"))
        if simulation.get("max_turns_effective"):
            self.turn_limits.add(simulation["max_turns_effective"])
        heard = {
            (text_of(record.get("speaker")), text_of(record.get("model")))
            for record in mappings(simulation.get("turn_records"))
            if record.get("model")
        }
        for speaker, model in heard:
            name = text_of(row.get("user_simulator")) if speaker == "persona" else ""
            self.served[speaker, name][model] += 1
        if row.get("judge_model"):
            self.served["judge", ""][str(row["judge_model"])] += 1
