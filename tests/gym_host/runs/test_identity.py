# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a run was, and what a resume is held against."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from gym_host.config.configuration import Instance
from gym_host.config.containers import differences
from gym_host.distribution import versions
from gym_host.errors import OutputError
from gym_host.runs.identity import refuse_other_run, run_identity
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import ServerContext, base_app

ROWS = {"tasks": 2, "num_repeats": 1, "sha256": "abc"}

PROVIDER = Path(__file__).parents[3] / "responses_api_models" / "inference_provider" / "app.py"
SETTINGS = {"base_url": "https://host/v1", "model": "m", "temperature": 0.5, "entrypoint": "app.py"}


async def identity(about: dict[str, Any] | None = None, rows: dict[str, Any] = ROWS, **settings: Any) -> dict[str, Any]:
    """The identity of a run with one model server of such settings."""
    calls = InMemoryCalls()
    calls.apps["judge"] = base_app(ServerContext("judge", calls), about=about)
    instance = Instance("judge", "responses_api_models", "inference_provider", SETTINGS | settings, PROVIDER)
    return await run_identity(rows, "agent", [instance], calls)


def test_versions_of_what_decides_are_told():
    found = versions()
    assert re.fullmatch(r"3\.\d+\.\d+.*", found["python"])
    assert found["vera-mh-gym"][0].isdigit()
    assert {"pydantic", "fastapi"} < set(found)


async def test_an_identity_holds_the_rows_the_agent_and_every_server_with_what_it_says_of_itself():
    assert await identity(about={"pack_sha256": "123"}) == {
        "agent": "agent",
        "rows": ROWS,
        "servers": {
            "judge": {"server": "responses_api_models/inference_provider", "settings": SETTINGS, "about": {"pack_sha256": "123"}},
        },
    }


async def test_a_server_that_says_nothing_of_itself_is_told_by_its_settings():
    instance = Instance("judge", "responses_api_models", "inference_provider", {"model": "m"}, PROVIDER)
    found = await run_identity(ROWS, "agent", [instance], InMemoryCalls({"judge": FastAPI()}))
    assert found["servers"] == {"judge": {"server": "responses_api_models/inference_provider", "settings": {"model": "m"}}}


@pytest.mark.parametrize(
    "settings",
    [
        {"num_concurrent_requests": 900},
        {"api_key": "sk-another-key-0123456789"},
        {"request_timeout_seconds": 5},
        {"connect_timeout_seconds": 5},
        {"max_attempts": 9},
        {"retry_after_cap_seconds": 9},
        {"backoff_base_seconds": 0.1, "backoff_max_seconds": 1.0},
        {"host": "127.0.0.1", "port": 4711, "num_workers": 2},
        {"description": "d", "domain": "safety", "value": "v", "verified": True, "verified_url": "https://x"},
        {"allowed_agents": ["a"], "allowed_model_types": ["b"], "datasets": [{"name": "d"}]},
    ],
)
async def test_what_only_changes_speed_patience_keys_or_descriptions_makes_no_other_run(settings: dict[str, Any]):
    refuse_other_run(await identity(), await identity(**settings), where="x_run.json")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model": "n"}, "servers.judge.settings.model was 'm', now 'n'"),
        ({"temperature": 0.0}, "servers.judge.settings.temperature was 0.5, now 0.0"),
        ({"base_url": "https://other/v1"}, "servers.judge.settings.base_url was 'https://host/v1', now 'https://other/v1'"),
        ({"extra_body": {"seed": 1}}, "servers.judge.settings.extra_body was None, now {'seed': 1}"),
        ({"about": {"pack_sha256": "456"}}, "servers.judge.about was None, now {'pack_sha256': '456'}"),
        (
            {"rows": {**ROWS, "num_repeats": 3, "sha256": "def"}},
            "rows.num_repeats was 1, now 3; rows.sha256 was 'abc', now 'def'",
        ),
    ],
)
async def test_what_makes_another_run_is_named_with_both_values(change: dict[str, Any], named: str):
    with pytest.raises(OutputError) as caught:
        refuse_other_run(await identity(), await identity(**change), where="x_run.json")
    assert caught.value.what == f"this is the output of another run: {named}"
    assert caught.value.where == "x_run.json"


async def test_no_key_and_no_secret_of_an_address_is_in_an_identity():
    found = repr(
        await identity(
            base_url="https://me:pass-word-1234@host/v1?key=query-secret-1",
            api_key="sk-key-0123456789",
            default_headers={"x-team": "team-secret-77"},
            judge_token="token-secret-88",
        )
    )
    for secret in ("pass-word-1234", "query-secret-1", "sk-key-0123456789", "team-secret-77", "token-secret-88"):
        assert secret not in found
    assert "https://" in found


def test_at_most_five_differences_are_shown_and_long_values_cut():
    found = {f"key{number}": "x" * 500 for number in range(8)}
    with pytest.raises(OutputError) as caught:
        refuse_other_run(found, {}, where="x")
    assert "key4 was" in str(caught.value)
    assert "key5" not in str(caught.value)
    assert "(and 3 more)" in str(caught.value)
    assert len(str(caught.value)) < 700


def test_differences_are_told_by_dotted_keys_whichever_side_has_them():
    found = {"a": {"b": 1, "c": [1]}, "d": None, "e": {"f": 1}}
    wanted = {"a": {"b": 1, "c": [1, 2]}, "e": 3, "g": 4}
    assert list(differences(found, wanted)) == [("a.c", [1], [1, 2]), ("e", {"f": 1}, 3), ("g", None, 4)]
    assert list(differences(found, found)) == []
