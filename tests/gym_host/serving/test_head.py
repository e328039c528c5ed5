# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The head."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gym_host.serving.calls import HttpCalls
from gym_host.serving.head_client import read_head
from tests.support.heads import KEY, Server, head


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


async def test_the_head_lists_its_servers_and_shows_no_secret():
    async with head(Server("policy_model", 81, api_key=KEY, base_url=f"https://a:{KEY}@b/v1"), Server("judge", 82)) as note:
        calls = HttpCalls({"head": note.url})
        assert await calls.call("head", "/livez") == {"status": "ok"}
        listed = await calls.call("head", "/servers")
        config = await calls.call("head", "/config")
        await calls.aclose()
    assert [server["name"] for server in listed["servers"]] == ["policy_model", "judge"]
    assert [server["url"] for server in listed["servers"]] == ["http://127.0.0.1:81", "http://127.0.0.1:82"]
    assert listed["pid"] == os.getpid()
    assert KEY not in str(listed) + str(config)
    assert config["policy_model"]["responses_api_models"]["provider"]["api_key"] == "****"


async def test_a_server_that_listens_everywhere_is_listed_at_the_name_by_which_the_head_was_asked():
    async with head(Server("one", 81, host="0.0.0.0"), Server("two", 82, host="10.0.0.5")) as note:
        found = await read_head(note.url.replace("127.0.0.1", "localhost"))
    assert [server.url for server in found.servers] == ["http://localhost:81", "http://10.0.0.5:82"]
