# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which models are asked, and where."""

from __future__ import annotations

from typing import Any

import pytest

from gym_host.config.configuration import Instance
from gym_host.config.models import models_shown


def model(**settings: Any) -> Instance:
    return Instance("judge", "responses_api_models", "provider", settings, None)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"model": "gpt", "base_url": "https://api.host.com/v1/"}, "gpt @ api.host.com/v1"),
        ({"model": "gpt", "base_url": "http://127.0.0.1:8000"}, "gpt @ 127.0.0.1:8000"),
        ({"model": "gpt", "base_url": "https://me:pass@host/v1?key=secret"}, "gpt @ host/v1"),
        ({"model": "careful", "script": "x.yaml"}, "careful @ provider"),
        ({"model": "???", "base_url": "???"}, "(not set) @ (not set)"),
        ({"model": "a\x1b[2Jb", "base_url": "http://[half"}, "a [2Jb @ http://[half"),
    ],
)
def test_a_model_is_shown_with_its_address_and_without_what_is_secret_in_it(settings: dict[str, Any], shown: str):
    agent = Instance("agent", "responses_api_agents", "agent", {"model": "x"}, None)
    assert models_shown([agent, model(**settings)]) == [f"  judge: {shown}"]
