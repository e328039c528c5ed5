# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the tokens of a model server cost, as its block says. It changes no outcome, so it is no part of what a run is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gym_host.config.configuration import Instance

PRICE = "price_per_million"
"""Key of a model server's block."""


class PricePerMillion(BaseModel):
    """What a million tokens cost, in a currency that is the same for all servers of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    cached_input: float | None = Field(None, ge=0, description="as other input, unless given")
    output: float = Field(ge=0)


def prices_of(instances: Iterable[Instance]) -> dict[str, dict[str, Any]]:
    """Name -> price of the servers that have one; a server whose block is wrong is refused when it is started, not here."""
    prices: dict[str, dict[str, Any]] = {}
    for instance in instances:
        try:
            price = PricePerMillion.model_validate(instance.settings.get(PRICE))
        except ValidationError:
            continue
        prices[instance.name] = price.model_dump(exclude_none=True)
    return prices
