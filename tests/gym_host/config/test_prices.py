# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Prices in the blocks of model servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_host.config.configuration import Instance
from gym_host.config.prices import prices_of
from gym_host.config.settings import check_settings
from responses_api_models.inference_provider.app import Settings as EndpointSettings
from responses_api_models.scripted_model.app import Settings as ScriptSettings

BLOCKS: dict[type, dict[str, Any]] = {
    EndpointSettings: {"base_url": "http://127.0.0.1:1/v1", "model": "m"},
    ScriptSettings: {"model": "m", "script": "s.yaml"},
}


def instance(name: str, **settings: Any) -> Instance:
    return Instance(name, "responses_api_models", "inference_provider", settings, Path("app.py"))


def test_prices_are_found_by_server_as_numbers_whatever_way_they_were_given():
    price = {"input": "2.5", "output": 10}
    found = prices_of([instance("a", price_per_million=price), instance("b"), instance("c", price_per_million=None)])
    assert found == {"a": {"input": 2.5, "output": 10.0}}
    assert prices_of([instance("a", price_per_million=price | {"cached_input": 0.5})])["a"]["cached_input"] == 0.5


@pytest.mark.parametrize("settings", BLOCKS)
@pytest.mark.parametrize("price", [{"input": -1, "output": 1}, {"input": 1}, {"input": 1, "output": 2, "cached": 3}, 5, "free"])
def test_a_price_that_is_none_is_refused_with_its_place(settings: type[Any], price: Any):
    block = BLOCKS[settings] | {"price_per_million": price}
    parsed, faults = check_settings(settings, block, where="judge")
    assert parsed is None
    assert all("price_per_million" in str(fault.where) for fault in faults)
    assert prices_of([instance("judge", **block)]) == {}


@pytest.mark.parametrize("settings", BLOCKS)
def test_a_price_is_no_part_of_what_a_run_is(settings: type[Any]):
    assert "price_per_million" in settings.NOT_IDENTITY
