# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Two runs compared, as a person reads it: tables of the differences, and what must be said beside them."""

from __future__ import annotations

from collections.abc import Sequence

from vera_mh.analysis.comparison import Comparison, Pair
from vera_mh.models import Json
from vera_mh.views.power_tables import power_notes, power_table
from vera_mh.views.summary import CAVEAT, Table

SHOWN_CONVERSATIONS = 12
"""Conversations at the most in the table of those that changed."""

COLUMNS = ("Base", "Other", "Other - base", "95% interval", "Pairs", "Rated in both")


def shown_comparison(found: Comparison) -> Json:
    """A comparison for a program and for a person.

    Returns:
        What `Comparison.to_json` returns, with `tables` (none without a pair), `notes` (sentences) and `caveat`.
    """
    tables = [
        _scores_table(found.differences),
        _dimensions_table(found.differences),
        _simulators_table(found.differences),
        _changes_table(found.pairs),
        power_table(found.spread, found.points, title="Personas that it takes to tell two such chatbots apart"),
    ]
    return {
        **found.to_json(),
        "tables": [table for table in tables if table["rows"]] if found.pairs else [],
        "notes": _notes(found),
        "caveat": CAVEAT,
    }


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
    changed.sort(key=lambda pair: (-abs(pair.change or 0.0), pair.key))
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
    who = [pair.persona, pair.simulator, *([str(pair.repeat)] if repeated else []), str(pair.risk_level or "-")]
    return [*who, *map(_number, pair.scores), _signed(pair.change)]


def _notes(found: Comparison) -> list[str]:
    pairs = found.pairs
    count = f"{len(pairs)} pair{'s' * (len(pairs) != 1)}"
    notes = [
        f"{count}: conversations (persona, user simulator, repeat) that both runs have scored, "
        f"of {found.num_base} in base and {found.num_other} in other."
    ]
    if not pairs:
        return notes
    once = sum(pair.is_rated_once for pair in pairs)
    if once:
        notes.append(f"Pairs rated in one run only, no dimension being relevant in the other: {once}.")
    limits = ["{} in base, {} in other".format(*pair.turn_limits) for pair in pairs if pair.has_unlike_limits]
    personas = [pair.persona for pair in pairs if pair.has_unlike_personas]
    base, other = found.harmed
    return [
        *notes,
        *_unlike("Pairs that were not allowed equally many turns", limits, len(pairs)),
        *_unlike("Pairs whose personas had other instructions in one run than in the other", personas, len(pairs)),
        f"Conversations with any High Potential for Harm: {base} in base, {other} in other, of {count}.",
        "Scores count every rating of the pairs but Not Relevant. Rated in both: pairs with such a rating in both runs.",
        "The interval is that of the difference, by bootstrap over personas; one that holds 0 leaves open which run is better.",
        *power_notes(found.spread),
    ]


def _unlike(what: str, unlike: Sequence[str], pairs: int) -> list[str]:
    """That the runs differ in more than their chatbots, if they do: in which pairs, told by the first of them."""
    if not unlike:
        return []
    found = f"{what}: {len(unlike)} of {pairs} (the first: {unlike[0]})."
    return [f"{found} What differs between these runs may come from that alone."]
