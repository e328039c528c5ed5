# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Two runs over the same rows, compared conversation by conversation: paired differences, with intervals over personas.

A pair is the same conversation of the benchmark (persona, user simulator, repeat) in both runs. What only one run has scored is
left out and counted. All scores here are over the pairs, so they can differ from those of the whole runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vera_mh.analysis.power import DIFFERENCES, Spread, paired_spread, power_json
from vera_mh.errors import RowError
from vera_mh.metrics import cluster_of, scored_rows
from vera_mh.models import Json, Row
from vera_mh.score import Tally, conversation_score, has_high_harm, tally
from vera_mh.statistics import Interval, paired_interval

Key = tuple[str, int]
"""(id, rollout index) of a conversation."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The same conversation of the benchmark in two runs."""

    base: Row
    other: Row

    @property
    def key(self) -> Key:
        return _key(self.base)

    @property
    def rows(self) -> tuple[Row, Row]:
        return self.base, self.other

    @property
    def persona(self) -> str:
        return str(self.base.get("persona_name") or "")

    @property
    def simulator(self) -> str:
        return str(self.base.get("user_simulator") or "")

    @property
    def risk_level(self) -> str | None:
        return self.base.get("risk_level")

    @property
    def repeat(self) -> int:
        return self.key[1]

    @property
    def scores(self) -> tuple[float | None, float | None]:
        """The conversation's own score (0 to 100) in both runs; None where nothing was rated."""
        return conversation_score(self.base["ratings"]), conversation_score(self.other["ratings"])

    @property
    def turn_limits(self) -> tuple[int | None, int | None]:
        """How many turns the conversation could have in both runs; None where a run does not say."""
        one, two = ((row.get("simulation") or {}).get("max_turns_effective") for row in self.rows)
        return one, two

    @property
    def has_unlike_limits(self) -> bool:
        """Whether the conversation could be longer in one run than in the other; False where a run does not say."""
        one, two = self.turn_limits
        return one is not None and two is not None and one != two

    @property
    def has_unlike_personas(self) -> bool:
        """Whether the persona had other instructions in one run than in the other; False where a run does not say."""
        one, two = (row.get("persona_system_prompt") for row in self.rows)
        return bool(one and two and one != two)

    @property
    def is_rated_once(self) -> bool:
        """Whether one run alone rated anything of it but Not Relevant."""
        one, two = self.scores
        return (one is None) != (two is None)

    @property
    def change(self) -> float | None:
        """Change of the conversation's own score, in score points (other minus base); None where a run rated nothing."""
        one, two = self.scores
        return None if one is None or two is None else round(two - one, 2)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs over the conversations that both have scored.

    Attributes:
        pairs: These conversations, in the order of their keys.
        num_base: Scored conversations of the run to compare with.
        num_other: Scored conversations of the other run.
        differences: Flat name -> value over the pairs: `base`, `other`, `difference` (other minus base, in score points) with its
            `ci95_low` and `ci95_high`, `pairs` and `pairs_rated_in_both`; each again for every dimension and user simulator; None
            where nothing was rated.
        spread: How uncertain the difference of the scores is; None where there is no interval, or no variation in it.
    """

    pairs: Sequence[Pair]
    num_base: int
    num_other: int
    differences: Json
    spread: Spread | None

    @property
    def points(self) -> Sequence[float]:
        """The differences, in score points, for which `power` has the personas needed: some round ones, and the one seen."""
        return [*DIFFERENCES, self.differences["difference"] or 0.0]

    @property
    def harmed(self) -> tuple[int, int]:
        """How many of the pairs have any High Potential for Harm, in both runs."""
        base, other = (sum(has_high_harm(pair.rows[side]["ratings"]) for pair in self.pairs) for side in (0, 1))
        return base, other

    def to_json(self) -> Json:
        """The comparison for a program.

        Returns:
            `num_pairs`, `num_personas`, `only_base`, `only_other` (scored conversations without a partner), `differences`,
            `conversations` (one entry a pair), and `power` (how many personas it takes to tell a difference; null without a
            spread).
        """
        return {
            "num_pairs": len(self.pairs),
            "num_personas": len({pair.persona for pair in self.pairs} - {""}),
            "only_base": self.num_base - len(self.pairs),
            "only_other": self.num_other - len(self.pairs),
            "differences": self.differences,
            "conversations": [_conversation(pair) for pair in self.pairs],
            "power": power_json(self.spread, self.points),
        }


def compare(base: Iterable[Row], other: Iterable[Row]) -> Comparison:
    """Compares two runs.

    Args:
        base: Rows of the run to compare with; those that failed are passed over.
        other: Rows of the other run.

    Raises:
        RowError: A row holds no ratings, or a conversation stands twice in a run.
    """
    base_rows, other_rows = _by_key(base, "base"), _by_key(other, "other")
    pairs = [Pair(base_rows[key], other_rows[key]) for key in sorted(base_rows) if key in other_rows]
    spread = paired_spread(paired_interval(_by_persona(pairs, _all_ratings)), len(pairs))
    return Comparison(pairs, len(base_rows), len(other_rows), _differences(pairs), spread)


def _key(row: Row) -> Key:
    return str(row.get("id", "")), int(row.get("_ng_rollout_index") or 0)


def _by_key(rows: Iterable[Row], name: str) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    for row in scored_rows(rows, name):
        if _key(row) in found:
            raise RowError(f"{name}: the conversation {_key(row)[0]!r}, rollout {_key(row)[1]}, stands twice")
        found[_key(row)] = row
    return found


def _differences(pairs: Sequence[Pair]) -> Json:
    dimensions = dict.fromkeys(dimension for pair in pairs for row in pair.rows for dimension in row["ratings"])
    differences = _difference("", pairs, _all_ratings)
    for dimension in dimensions:
        differences |= _difference(f"/dimension/{dimension}", pairs, _ratings_of(dimension))
    for simulator in sorted({pair.simulator for pair in pairs} - {""}):
        of_it = [pair for pair in pairs if pair.simulator == simulator]
        differences |= _difference(f"/user_simulator/{simulator}", of_it, _all_ratings)
    return differences


def _all_ratings(row: Row) -> Iterable[str]:
    return row["ratings"].values()  # type: ignore[no-any-return]


def _ratings_of(dimension: str) -> Callable[[Row], Iterable[str]]:
    return lambda row: [row["ratings"].get(dimension, "")]


def _difference(place: str, pairs: Sequence[Pair], ratings: Callable[[Row], Iterable[str]]) -> Json:
    """Score of both runs over some ratings of each pair, their difference and its interval."""
    by_persona = _by_persona(pairs, ratings)
    both_sides = [[tally(ratings(row)).rated for row in pair.rows] for pair in pairs]
    base, other = (_score(both[side] for both in by_persona.values()) for side in (0, 1))
    interval: Interval | None = paired_interval(by_persona)
    return {
        f"base{place}": base,
        f"other{place}": other,
        f"difference{place}": None if base is None or other is None else round(other - base, 2),
        f"difference{place}/ci95_low": interval.low if interval else None,
        f"difference{place}/ci95_high": interval.high if interval else None,
        f"pairs{place}": len(pairs),
        f"pairs_rated_in_both{place}": sum(all(rated) for rated in both_sides),
    }


def _by_persona(pairs: Iterable[Pair], ratings: Callable[[Row], Iterable[str]]) -> dict[str, tuple[Tally, Tally]]:
    """Persona -> tallies of both runs, by name."""
    by_persona: defaultdict[str, tuple[Tally, Tally]] = defaultdict(lambda: (Tally(), Tally()))
    for pair in pairs:
        for total, row in zip(by_persona[cluster_of(pair.base)], pair.rows, strict=True):
            total.merge(tally(ratings(row)))
    return dict(sorted(by_persona.items()))


def _score(tallies: Iterable[Tally]) -> float | None:
    """The pooled score; None where nothing was rated, since a difference from a mere convention would say nothing."""
    total = Tally()
    for one in tallies:
        total.merge(one)
    return total.shares().score if total.rated else None


def _conversation(pair: Pair) -> Json:
    base, other = pair.scores
    return {
        "id": pair.key[0],
        "_ng_rollout_index": pair.repeat,
        "persona_name": pair.persona,
        "user_simulator": pair.simulator,
        "risk_level": pair.risk_level,
        "base": base,
        "other": other,
        "difference": pair.change,
    }
