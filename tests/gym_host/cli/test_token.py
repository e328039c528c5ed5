# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Servers on ports that ask for a token, with real processes."""

from __future__ import annotations

import urllib.error
from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import read_jsonl
from tests.support.servers import env_start, get, post

TOKEN = "a-token-of-this-test-alone"
VARIABLE = "GYM_SERVER_TOKEN"


def refusal(url: str, body: object) -> int:
    """The status of a request without the token, whose answer says what is missing."""
    with pytest.raises(urllib.error.HTTPError, match="401") as caught:
        get(url) if body is None else post(url, body)
    assert VARIABLE in caught.value.read().decode()
    return caught.value.code


def test_with_a_token_the_servers_work_for_those_who_have_it_and_for_nobody_else(
    gym: Gym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    words = ("--benchmark", "vera_mh_demo")
    with env_start(*words, cwd=tmp_path, environ={VARIABLE: TOKEN}) as started:
        started.ready()
        monkeypatch.setenv("XDG_CACHE_HOME", started.environ["XDG_CACHE_HOME"])
        for refused in (("env", "status"), ("eval", "run", "--no-serve", *words, "-o", "x.jsonl")):
            said = gym.refuses(*refused)
            assert "asks for a token\n" in said
            assert VARIABLE in said
        monkeypatch.setenv(VARIABLE, "another-token-than-theirs")
        for words_of_head in ((), ("--head", started.url)):
            assert "asks for another token than the one that is set\n" in gym.refuses("env", "status", *words_of_head)

        monkeypatch.setenv(VARIABLE, TOKEN)
        listed = gym("env", "status", "--json")
        assert (listed.code, listed.out.count('"state": "ready"')) == (0, 5)
        ran = gym("eval", "run", "--no-serve", *words, "-o", "x.jsonl", "--limit", "1")
        assert ran.code == 0, ran
        assert len(read_jsonl(gym.folder / "x.jsonl")) == 1

        for server in [line.split()[3] for line in started.out.lines if " ready" in line]:
            assert get(f"{server}/livez") == {"status": "ok"}
            assert refusal(f"{server}/", None) == refusal(f"{server}/verify", {}) == 401
        assert TOKEN not in started.out.text + started.err.text
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if TOKEN.encode() in path.read_bytes()] == []


def test_a_token_that_protects_nothing_is_refused_before_anything_starts(gym: Gym, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(VARIABLE, "1234")
    said = gym.refuses("env", "start", "--benchmark", "vera_mh_demo")
    assert f"where: environment variable {VARIABLE}" in said
    assert "1234" not in said
