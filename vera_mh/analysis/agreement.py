# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How far raters of the same conversations agree: two judges, a judge and clinicians, a judge and itself.

Raters may have rated different sets of conversations; what two or more have rated counts. Chance-corrected inter-rater
reliability (IRR), as the papers on VERA-MH call it, is Krippendorff's alpha here; see `vera_mh.analysis.reliability`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product

import numpy as np

from vera_mh.analysis.raters import CATEGORIES, Rater
from vera_mh.analysis.reliability import Estimate, reliability
from vera_mh.errors import RatingsError
from vera_mh.models import Json
from vera_mh.statistics import DRAWS, SEED, Floats

OTHER_TEXT = "the raters saw different conversations under this name"
NO_DIMENSION = "no dimension is rated by two raters"

ORDERED = len(CATEGORIES) - 1
"""The first so many categories are in order of severity; Not Relevant has no place among them."""


def agreement(raters: Sequence[Rater], *, draws: int = DRAWS, seed: int = SEED) -> Json:
    """Agreement of raters, for each dimension and over all of them.

    Args:
        raters: Two raters or more.
        draws: Draws of the bootstrap over conversations; a conversation's dimensions stay together.
        seed: Seed of the draws.

    Returns:
        `raters`, `conversations` (`in_common`, `left_out` with reasons), `dimensions` and `overall` (raw agreement, alpha and
        ordinal alpha with intervals and n), `disagreements`, and for two raters `confusion` (rows are the first one's ratings).

    Raises:
        RatingsError: There are fewer than two raters, two have the same name, or nothing is rated by two of them.
    """
    _check(raters)
    raters = _one_spelling(_one_name(raters))
    left_out = _left_out(raters)
    conversations = [name for name in dict.fromkeys(chain.from_iterable(r.ratings for r in raters)) if name not in left_out]
    dimensions = list(dict.fromkeys(chain.from_iterable(_dimensions(raters, name) for name in conversations)))
    rated = dict.fromkeys(chain.from_iterable(chain.from_iterable(r.ratings.values() for r in raters)))
    if not dimensions:
        raise _nothing_in_common(raters, left_out)
    counts = _counts(raters, conversations, dimensions)
    result: Json = {
        "raters": [_about(rater, left_out) for rater in raters],
        "conversations": {
            "in_common": len(conversations),
            "left_out": [{"conversation": name, "reason": reason} for name, reason in left_out.items()],
        },
        "overall": _measures(counts, draws, seed),
        "dimensions": {name: _measures(counts[:, [at]], draws, seed) for at, name in enumerate(dimensions)},
        "dimensions_left_out": [name for name in rated if name not in dimensions],
        "disagreements": list(_disagreements(raters, conversations, dimensions)),
        "categories": list(CATEGORIES),
        "bootstrap": {"over": "conversations", "draws": draws, "seed": seed},
    }
    if len(raters) == 2:
        result["confusion"] = _confusion(raters, conversations, dimensions)
    return result


def _check(raters: Sequence[Rater]) -> None:
    if len(raters) < 2:
        raise RatingsError("agreement is between two raters or more", mend="give another file of ratings")
    twice = next((name for name, count in Counter(rater.name for rater in raters).items() if count > 1), None)
    if twice is not None:
        raise RatingsError(f"two raters have the name {twice!r}", mend="name them apart: NAME=FILE")


def _one_name(raters: Sequence[Rater]) -> list[Rater]:
    """The raters with every conversation under one name: a sheet may call it as its file is called.

    A name that the files of two conversations of a run would have tells neither.
    """
    shared = {name for rater in raters for name, count in Counter(rater.names.values()).items() if count > 1}
    called: defaultdict[str, set[str]] = defaultdict(set)
    for conversation, name in chain.from_iterable(rater.names.items() for rater in raters):
        if name not in (conversation, *shared):
            called[name].add(conversation)
    known = {name: next(iter(of)) for name, of in called.items() if len(of) == 1}
    return [_renamed(rater, known) for rater in raters]


def _renamed(rater: Rater, known: Mapping[str, str]) -> Rater:
    ratings: dict[str, Mapping[str, str]] = {}
    for conversation, rated in rater.ratings.items():
        name = known.get(conversation, conversation)
        if name in ratings:
            raise RatingsError(f"{rater.name} has rated the conversation {name!r} under two names")
        ratings[name] = rated
    return replace(
        rater, ratings=ratings, transcripts={known.get(name, name): digest for name, digest in rater.transcripts.items()}
    )


def _one_spelling(raters: Sequence[Rater]) -> list[Rater]:
    """The raters with every dimension written one way, that of the rows of a run if there are any.

    Where one rater has two dimensions that differ in nothing else, they are two.
    """
    spellings: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for rater in sorted(raters, key=lambda rater: not rater.names):  # The rows of a run name their conversations in two ways.
        for rated in rater.ratings.values():
            for name in rated:
                spellings[_folded(name)][name] = None
    two = {
        folded
        for rater in raters
        for rated in rater.ratings.values()
        for folded, count in Counter(map(_folded, rated)).items()
        if count > 1
    }
    one = {name: next(iter(names)) for folded, names in spellings.items() if folded not in two for name in names}
    return [replace(rater, ratings={name: _spelt(rated, one) for name, rated in rater.ratings.items()}) for rater in raters]


def _folded(dimension: str) -> str:
    return " ".join(dimension.casefold().split())


def _spelt(rated: Mapping[str, str], one: Mapping[str, str]) -> dict[str, str]:
    return {one.get(dimension, dimension): rating for dimension, rating in rated.items()}


def _left_out(raters: Sequence[Rater]) -> dict[str, str]:
    """Conversations that cannot be compared, and why."""
    reasons = {}
    for name in dict.fromkeys(chain.from_iterable(rater.ratings for rater in raters)):
        who = [rater.name for rater in raters if rater.ratings.get(name)]
        texts = {rater.transcripts[name] for rater in raters if name in rater.transcripts}
        if len(who) < 2:
            reasons[name] = f"rated by {who[0]} only" if who else "rated by nobody"
        elif len(texts) > 1:
            reasons[name] = OTHER_TEXT
        elif not _dimensions(raters, name):
            reasons[name] = NO_DIMENSION
    return reasons


def _dimensions(raters: Sequence[Rater], conversation: str) -> list[str]:
    """Dimensions of a conversation that two raters or more have rated."""
    often = Counter(chain.from_iterable(rater.ratings.get(conversation, {}) for rater in raters))
    return [dimension for dimension, count in often.items() if count > 1]


def _nothing_in_common(raters: Sequence[Rater], left_out: Mapping[str, str]) -> RatingsError:
    if OTHER_TEXT in left_out.values():
        return RatingsError(
            "the raters have rated different conversations that are called the same",
            mend="compare ratings of one run; the conversations of a run can be rated anew by another judge",
        )
    if NO_DIMENSION in left_out.values():
        named = "; ".join(f"{rater.name}: {', '.join(map(repr, _all_dimensions(rater)))}" for rater in raters[:2])
        return RatingsError(
            f"raters have rated the same conversations, but never in the same dimension; their dimensions are {named}",
            mend="call the dimensions the same everywhere, as the rubric does",
        )
    first = " and ".join(f"{next(iter(rater.ratings), 'nothing')!r} ({rater.name})" for rater in raters[:2])
    return RatingsError(
        f"no two raters have rated the same conversation; their first conversations are {first}",
        mend="see that conversations are called the same everywhere",
    )


def _all_dimensions(rater: Rater) -> list[str]:
    return list(dict.fromkeys(chain.from_iterable(rater.ratings.values())))


def _counts(raters: Sequence[Rater], conversations: Sequence[str], dimensions: Sequence[str]) -> Floats:
    """How many raters gave which rating: array of shape (conversations, dimensions, categories)."""
    counts = np.zeros((len(conversations), len(dimensions), len(CATEGORIES)))
    for rater in raters:
        for place, conversation in enumerate(conversations):
            for at, dimension in enumerate(dimensions):
                rating = rater.ratings.get(conversation, {}).get(dimension)
                if rating is not None:
                    counts[place, at, CATEGORIES.index(rating)] += 1
    return counts


def _measures(counts: Floats, draws: int, seed: int) -> Json:
    nominal = reliability(counts, draws=draws, seed=seed)
    ordinal = reliability(counts[:, :, :ORDERED], ordinal=True, draws=draws, seed=seed)
    return {
        "n": nominal.units,
        "n_conversations": nominal.clusters,
        **_estimate("raw_agreement", nominal.raw),
        **_estimate("alpha", nominal.alpha),
        "n_ordinal": ordinal.units,
        **_estimate("alpha_ordinal", ordinal.alpha),
    }


def _estimate(name: str, estimate: Estimate) -> Json:
    values: Json = {name: estimate.value, f"{name}_ci95_low": estimate.low, f"{name}_ci95_high": estimate.high}
    if estimate.reason:
        values[f"{name}_undefined"] = estimate.reason
    if estimate.undefined_draws:
        values[f"{name}_undefined_draws"] = estimate.undefined_draws
    return values


def _about(rater: Rater, left_out: Mapping[str, str]) -> Json:
    rated = [name for name, ratings in rater.ratings.items() if ratings]
    return {
        "name": rater.name,
        "conversations": len(rated),
        "in_common": sum(name not in left_out for name in rated),
        "columns_not_read": list(rater.unread),
    }


def _disagreements(raters: Sequence[Rater], conversations: Iterable[str], dimensions: Iterable[str]) -> Iterator[Json]:
    """Where raters differ, conversation by conversation."""
    for conversation, dimension in product(conversations, dimensions):
        given = {rater.name: rater.ratings.get(conversation, {}).get(dimension) for rater in raters}
        given = {name: rating for name, rating in given.items() if rating is not None}
        if len(set(given.values())) > 1:
            yield {"conversation": conversation, "dimension": dimension, "ratings": given}


def _confusion(raters: Sequence[Rater], conversations: Sequence[str], dimensions: Sequence[str]) -> Json:
    """How often the second rater gave which rating where the first gave which."""
    tables = {dimension: [[0] * len(CATEGORIES) for _ in CATEGORIES] for dimension in dimensions}
    for conversation, dimension in product(conversations, dimensions):
        one, two = (rater.ratings.get(conversation, {}).get(dimension) for rater in raters)
        if one is not None and two is not None:
            tables[dimension][CATEGORIES.index(one)][CATEGORIES.index(two)] += 1
    overall = np.sum(list(tables.values()), axis=0).tolist()
    return {"rows": raters[0].name, "columns": raters[1].name, "overall": overall, "dimensions": tables}
