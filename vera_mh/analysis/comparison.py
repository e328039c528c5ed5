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

from vera_mh.analysis.power import DIFFERENCES, paired_spread, power_json, power_notes, power_table
from vera_mh.errors import RowError
from vera_mh.metrics import cluster_of, scored_rows
from vera_mh.models import Json, Row
from vera_mh.score import Tally, conversation_score, has_high_harm, tally
from vera_mh.statistics import Interval, paired_interval
from vera_mh.summary import CAVEAT, Table

Key = tuple[str, int]
"""(id, rollout index) of a conversation."""

SHOWN_CONVERSATIONS = 12


@dataclass(frozen=True, slots=True)
class Pair:
    """The same conversation of the benchmark in two runs."""

    base: Row
    other: Row

    @property
    def persona(self) -> str:
        return str(self.base.get("persona_name") or "")

    @property
    def simulator(self) -> str:
        return str(self.base.get("user_simulator") or "")

    @property
    def repeat(self) -> int:
        return _key(self.base)[1]

    @property
    def scores(self) -> tuple[float | None, float | None]:
        """The conversation's own score in both runs; None where nothing was rated."""
        return conversation_score(self.base["ratings"]), conversation_score(self.other["ratings"])

    @property
    def allowed(self) -> tuple[int | None, int | None]:
        """How many turns the conversation could have in both runs; None where a run does not say."""
        one, two = ((row.get("simulation") or {}).get("max_turns_effective") for row in (self.base, self.other))
        return one, two

    @property
    def change(self) -> float | None:
        """Change of the conversation's own score; None where a run rated nothing."""
        one, two = self.scores
        return None if one is None or two is None else round(two - one, 2)


def compare(base: Iterable[Row], other: Iterable[Row]) -> Json:
    """Compares two runs.

    Args:
        base: Scored rows of the run to compare with.
        other: Scored rows of the other run.

    Returns:
        `num_pairs`, `num_personas`, `only_base`, `only_other` (scored conversations without a partner), `differences` (flat name
        -> value over the pairs: `base`, `other`, `difference` (other minus base, in score points) with its `ci95_low` and
        `ci95_high`, `pairs` and `pairs_rated_in_both`; each again for every dimension and user simulator; null where nothing
        was rated), `conversations` (one entry a pair), `power` (how many personas it takes to tell a difference; null where that
        cannot be told), and for a person `tables`, `notes` and `caveat`.

    Raises:
        RowError: A row holds no ratings, or a conversation stands twice in a run.
    """
    base_rows, other_rows = _by_key(base, "base"), _by_key(other, "other")
    pairs = [Pair(base_rows[key], other_rows[key]) for key in sorted(base_rows) if key in other_rows]
    differences = _differences(pairs)
    spread = paired_spread(paired_interval(_by_persona(pairs, _all_ratings)), len(pairs))
    points = [*DIFFERENCES, differences["difference"] or 0.0]
    tables = [
        _scores_table(differences),
        _dimensions_table(differences),
        _simulators_table(differences),
        _changes_table(pairs),
        power_table(spread, points, title="Personas that it takes to tell two such chatbots apart"),
    ]
    return {
        "num_pairs": len(pairs),
        "num_personas": len({pair.persona for pair in pairs} - {""}),
        "only_base": len(base_rows) - len(pairs),
        "only_other": len(other_rows) - len(pairs),
        "differences": differences,
        "conversations": [_conversation(pair) for pair in pairs],
        "tables": [table for table in tables if table["rows"]] if pairs else [],
        "notes": [*_notes(pairs, len(base_rows), len(other_rows)), *power_notes(spread)],
        "power": power_json(spread, points),
        "caveat": CAVEAT,
    }


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
    dimensions = dict.fromkeys(dimension for pair in pairs for row in (pair.base, pair.other) for dimension in row["ratings"])
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
    both_sides = [[tally(ratings(row)).rated for row in (pair.base, pair.other)] for pair in pairs]
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
        for total, row in zip(by_persona[cluster_of(pair.base)], (pair.base, pair.other), strict=True):
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
        "id": _key(pair.base)[0],
        "_ng_rollout_index": pair.repeat,
        "persona_name": pair.persona,
        "user_simulator": pair.simulator,
        "risk_level": pair.base.get("risk_level"),
        "base": base,
        "other": other,
        "difference": pair.change,
    }


COLUMNS = ("Base", "Other", "Other - base", "95% interval", "Pairs", "Rated in both")


def _scores_table(differences: Json) -> Table:
    rows = [_difference_row("VERA-MH score (0 to 100)", differences, "")]
    return {"title": "Score over the pairs", "columns": ["", *COLUMNS], "rows": rows}


def _dimensions_table(differences: Json) -> Table:
    return _parts_table("By dimension", "Dimension", differences, "/dimension/")


def _simulators_table(differences: Json) -> Table:
    return _parts_table("By user simulator", "User simulator", differences, "/user_simulator/")


def _parts_table(title: str, what: str, differences: Json, place: str) -> Table:
    names = [name.removeprefix(f"base{place}") for name in differences if name.startswith(f"base{place}")]
    rows = [_difference_row(name, differences, f"{place}{name}") for name in names]
    return {"title": title, "columns": [what, *COLUMNS], "rows": rows}


def _difference_row(name: str, differences: Json, place: str) -> list[str]:
    low, high = differences[f"difference{place}/ci95_low"], differences[f"difference{place}/ci95_high"]
    return [
        name,
        _number(differences[f"base{place}"]),
        _number(differences[f"other{place}"]),
        _signed(differences[f"difference{place}"]),
        "-" if low is None else f"{_signed(low)} to {_signed(high)}",
        str(differences[f"pairs{place}"]),
        str(differences[f"pairs_rated_in_both{place}"]),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else "0.00" if value == 0 else f"{value:+.2f}"


def _changes_table(pairs: Sequence[Pair]) -> Table:
    changed = [pair for pair in pairs if pair.change]
    changed.sort(key=lambda pair: (-abs(pair.change or 0.0), _key(pair.base)))
    repeated = any(pair.repeat for pair in pairs)
    who = ["Persona", "User simulator", *(["Repeat"] if repeated else []), "Risk level"]
    shown = changed[:SHOWN_CONVERSATIONS]
    which = f"The {len(shown)} conversations whose own score changed most, of {len(changed)} that changed"
    if len(shown) == len(changed):
        which = f"Conversations whose own score changed: {len(changed)} of {len(pairs)}"
    return {
        "title": which,
        "columns": [*who, "Base", "Other", "Other - base"],
        "rows": [_change_row(pair, repeated) for pair in shown],
    }


def _change_row(pair: Pair, repeated: bool) -> list[str]:
    who = [pair.persona, pair.simulator, *([str(pair.repeat)] if repeated else []), str(pair.base.get("risk_level") or "-")]
    return [*who, *map(_number, pair.scores), _signed(pair.change)]


def _notes(pairs: Sequence[Pair], base: int, other: int) -> list[str]:
    count = f"{len(pairs)} pair{'s' * (len(pairs) != 1)}"
    notes = [
        f"{count}: conversations (persona, user simulator, repeat) that both runs have scored, "
        f"of {base} in base and {other} in other."
    ]
    if not pairs:
        return notes
    harmed = [sum(has_high_harm(row["ratings"]) for row in side) for side in _sides(pairs)]
    once = sum((one is None) != (two is None) for one, two in (pair.scores for pair in pairs))
    if once:
        notes.append(f"Pairs rated in one run only, no dimension being relevant in the other: {once}.")
    return [
        *notes,
        *_unlike_lengths(pairs),
        *_unlike_personas(pairs),
        f"Conversations with any High Potential for Harm: {harmed[0]} in base, {harmed[1]} in other, of {count}.",
        "Scores count every rating of the pairs but Not Relevant. Rated in both: pairs with such a rating in both runs.",
        "The interval is that of the difference, by bootstrap over personas; one that holds 0 leaves open which run is better.",
    ]


def _unlike_lengths(pairs: Sequence[Pair]) -> list[str]:
    """That conversations could be longer in one run than in the other, if they could."""
    apart = [pair.allowed for pair in pairs if None not in pair.allowed and pair.allowed[0] != pair.allowed[1]]
    if not apart:
        return []
    return [
        f"Pairs that were not allowed equally many turns: {len(apart)} of {len(pairs)} (the first: {apart[0][0]} in base, "
        f"{apart[0][1]} in other). What differs between these runs may come from that alone."
    ]


def _unlike_personas(pairs: Sequence[Pair]) -> list[str]:
    """That personas of one name were not the same in both runs, if they were not; a run that does not say is passed over."""
    prompts = [(pair.persona, *(row.get("persona_system_prompt") for row in (pair.base, pair.other))) for pair in pairs]
    apart = [persona for persona, one, two in prompts if one and two and one != two]
    if not apart:
        return []
    return [
        f"Pairs whose personas had other instructions in one run than in the other: {len(apart)} of {len(pairs)} (the first: "
        f"{apart[0]}). What differs between these runs may come from that alone."
    ]


def _sides(pairs: Sequence[Pair]) -> tuple[list[Row], list[Row]]:
    return [pair.base for pair in pairs], [pair.other for pair in pairs]
