# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Inter-rater reliability: how far raters agree, and how far beyond what chance would give.

Chance-corrected agreement is Krippendorff's alpha (K. Krippendorff, "Computing Krippendorff's Alpha-Reliability", 2011): it takes
any number of raters and missing ratings, and counts each unit that two raters or more have rated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vera_mh.statistics import DRAWS, SEED, Floats, resampled

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% interval by bootstrap; both None where they are not defined.

    Attributes:
        value: The value.
        low: Lower end of the interval.
        high: Upper end of it.
        undefined_draws: Draws of the bootstrap in which the value is not defined, which are left out of the interval.
        reason: Why there is no value, else None.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined_draws: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reliability:
    """Agreement of raters over some units.

    Attributes:
        units: Units that two raters or more have rated.
        clusters: Conversations that these units are of.
        raw: Share of pairs of ratings of the same unit that are the same, 0 to 1: mean over the units.
        alpha: Krippendorff's alpha: 1 where all agree, 0 where they agree as often as by chance.
    """

    units: int
    clusters: int
    raw: Estimate
    alpha: Estimate


def reliability(counts: Floats, *, ordinal: bool = False, draws: int = DRAWS, seed: int = SEED) -> Reliability:
    """How far raters agree.

    Args:
        counts: How many raters gave which value: array of shape (clusters, units of a cluster, values). A unit that fewer than
            two have rated counts nowhere. Units of one cluster stay together when the bootstrap draws.
        ordinal: Whether the values are in order, so that a disagreement weighs more the further apart its values are.
        draws: Bootstrap draws.
        seed: Seed of the draws.
    """
    counts = np.where(counts.sum(axis=2, keepdims=True) >= 2, counts, 0)
    counts = counts[counts.sum(axis=(1, 2)) > 0]
    clusters, values = counts.shape[0], counts.shape[2]
    raters = counts.sum(axis=2)
    units = int((raters > 0).sum())
    if not units:
        nothing = Estimate(None, reason="no two raters have rated the same conversation here")
        return Reliability(0, 0, nothing, nothing)
    coincidences, agreed = _coincidences(counts, raters), _agreed(counts, raters)
    # One row a cluster: all that the two values are sums of.
    sums = np.column_stack([coincidences.reshape(clusters, -1), agreed.sum(axis=1), (raters > 0).sum(axis=1)])
    whole = sums.sum(axis=0)[np.newaxis]
    drawn = resampled(sums, draws=draws, seed=seed) if clusters > 1 else sums[:0]
    alpha = _estimate(_alphas(whole, values, ordinal), _alphas(drawn, values, ordinal))
    if alpha.value is None:
        alpha = Estimate(None, reason="all ratings are the same, so what chance would give cannot be told")
    return Reliability(units, clusters, _estimate(_raw(whole), _raw(drawn)), alpha)


def _coincidences(counts: Floats, raters: Floats) -> Floats:
    """Pairs of values within units, each unit weighing as much as it has ratings: shape (clusters, values, values)."""
    pairs = counts[..., :, np.newaxis] * counts[..., np.newaxis, :] - counts[..., np.newaxis] * np.eye(counts.shape[2])
    per_rating = pairs / np.maximum(raters - 1, 1)[..., np.newaxis, np.newaxis]
    return np.asarray(per_rating.sum(axis=1), dtype=np.float64)


def _agreed(counts: Floats, raters: Floats) -> Floats:
    """Share of pairs of raters that agree, for each unit: shape (clusters, units)."""
    return np.asarray((counts * (counts - 1)).sum(axis=2) / np.maximum(raters * (raters - 1), 1), dtype=np.float64)


def _raw(sums: Floats) -> Floats:
    return np.asarray(sums[:, -2] / sums[:, -1], dtype=np.float64)


def _alphas(sums: Floats, values: int, ordinal: bool) -> Floats:
    """Alpha of each row of sums; not a number where all ratings are the same."""
    coincidences = sums[:, : values * values].reshape(-1, values, values)
    totals = coincidences.sum(axis=2)
    distances = _ordinal_distances(totals) if ordinal else 1 - np.eye(values)[np.newaxis]
    observed = (coincidences * distances).sum(axis=(1, 2))
    by_chance = (totals[:, :, np.newaxis] * totals[:, np.newaxis, :] * distances).sum(axis=(1, 2))
    ratings = totals.sum(axis=1)
    ratio = np.divide((ratings - 1) * observed, by_chance, out=np.full(len(sums), np.nan), where=by_chance > 0)
    return np.asarray(1 - ratio, dtype=np.float64)


def _ordinal_distances(totals: Floats) -> Floats:
    """Squared distance of each two values: the ratings from the one to the other, half of each of the two."""
    middles = totals.cumsum(axis=1) - totals / 2
    return np.asarray((middles[:, :, np.newaxis] - middles[:, np.newaxis, :]) ** 2, dtype=np.float64)


def _estimate(whole: Floats, drawn: Floats) -> Estimate:
    value = float(whole[0])
    if np.isnan(value):
        return Estimate(None)
    defined = drawn[~np.isnan(drawn)]
    if not len(defined):
        return Estimate(round(value, _DIGITS))
    low, high = np.percentile(defined, [2.5, 97.5])
    return Estimate(round(value, _DIGITS), round(float(low), _DIGITS), round(float(high), _DIGITS), len(drawn) - len(defined))
