# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a server, and faults in them in the user's words."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from gym_host.config.settings import ServerRef, ServerSettings, parse_settings
from gym_host.errors import ConfigError

PLACE = "vera_mh.resources_servers.vera_mh"


class Retry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    attempts: int = 3
    longest_wait: float = 60


class JudgeSettings(ServerSettings):
    judge: ServerRef
    temperature: float | None = None
    mode: Literal["fast", "careful"] = "fast"
    api_key: str = ""
    retry: Retry | None = None
    users: list[ServerRef] = []
    speculation: bool = Field(default=False, alias="judge_speculation")

    @field_validator("temperature")
    @classmethod
    def _not_negative(cls, value: float | None) -> float | None:
        if value is not None and value < 0:
            raise ValueError("a temperature is at least 0")
        return value


JUDGE = {"judge": {"type": "responses_api_models", "name": "j"}}


def fault(settings: dict[str, Any]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_settings(JudgeSettings, {**JUDGE, **settings}, where=PLACE)
    return caught.value


def test_every_server_accepts_what_nemo_gyms_hosts_put_into_any_block():
    block = {
        **{"entrypoint": "app.py", "host": "127.0.0.1", "port": 12345, "num_workers": 2, "domain": "safety"},
        **{"description": "d", "value": "v", "verified": False, "verified_url": "https://x", "allowed_agents": ["a"]},
        "datasets": [{"name": "vera_mh", "type": "benchmark", "jsonl_fpath": "data.jsonl"}],
    }
    settings = parse_settings(ServerSettings, block, where=PLACE)
    assert (settings.host, settings.port, settings.datasets[0]["name"]) == ("127.0.0.1", 12345, "vera_mh")


def test_values_of_environment_variables_are_texts_and_are_read_as_numbers_and_switches():
    settings = parse_settings(JudgeSettings, {**JUDGE, "temperature": "0.5", "judge_speculation": "true"}, where=PLACE)
    assert (settings.temperature, settings.speculation) == (0.5, True)


def test_references_are_read():
    settings = parse_settings(JudgeSettings, {**JUDGE, "users": [JUDGE["judge"]]}, where=PLACE)
    assert settings.users == [ServerRef(type="responses_api_models", name="j")]


def test_an_unknown_key_is_answered_with_its_place_and_the_nearest_key_in_three_lines():
    error = fault({"temprature": 0})
    assert error.where == f"{PLACE}.temprature"
    assert "did you mean `temperature`?" in str(error.mend)
    assert str(error).count("\n") == 2


@pytest.mark.parametrize(
    ("settings", "place", "meant"),
    [
        ({"retry": {"atempts": 1}}, "retry.atempts", "attempts"),
        ({"users": [{"type": "t", "name": "n", "nam": "x"}]}, "users.0.nam", "name"),
        ({"judge_speculatoin": True}, "judge_speculatoin", "judge_speculation"),
        ({"hots": "h"}, "hots", "host"),
    ],
)
def test_unknown_keys_are_found_at_any_depth(settings: dict[str, Any], place: str, meant: str):
    error = fault(settings)
    assert error.where == f"{PLACE}.{place}"
    assert f"did you mean `{meant}`?" in str(error.mend)


def test_a_missing_key_is_told_with_its_place():
    with pytest.raises(ConfigError, match="the setting `judge` is missing") as caught:
        parse_settings(JudgeSettings, {}, where=PLACE)
    assert caught.value.where == f"{PLACE}.judge"


@pytest.mark.parametrize(
    ("settings", "place", "told"),
    [
        ({"temperature": "hot"}, "temperature = 'hot'", "valid number"),
        ({"temperature": -1}, "temperature = -1", "a temperature is at least 0"),
        ({"mode": "slow"}, "mode = 'slow'", "'fast' or 'careful'"),
        ({"retry": {"attempts": 1.5}}, "retry.attempts = 1.5", "integer"),
        ({"judge": "j"}, "judge = 'j'", "valid dictionary"),
    ],
)
def test_a_wrong_value_is_told_with_its_place_and_what_was_given(settings: dict[str, Any], place: str, told: str):
    error = fault(settings)
    assert error.where == f"{PLACE}.{place}"
    assert told in error.what
    assert str(error).count("\n") <= 2


def test_several_faults_are_told_at_once():
    lines = str(fault({"temprature": 0, "mode": "slow", "retry": {"attempts": "x"}})).splitlines()
    assert lines[0] == f"3 settings of `{PLACE}` are wrong:"
    assert len(lines) == 4
    assert all(place in " ".join(lines) for place in (f"{PLACE}.temprature", f"{PLACE}.mode", f"{PLACE}.retry.attempts"))


def test_a_wrong_value_under_a_secret_name_is_not_shown_nor_kept_in_the_chain_of_errors():
    error = fault({"api_key": ["planted-secret"], "judge": {"type": "t", "name": "n", "token": "planted-secret"}})
    assert "planted" not in f"{error!r} {error}"
    assert error.__cause__ is None
    assert error.__context__ is None


def test_a_long_value_is_cut():
    assert len(str(fault({"mode": "x" * 5000}))) < 400
