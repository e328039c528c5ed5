# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""How a command finds the head and its servers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from gym_host.config.configuration import Config
from gym_host.errors import ServerError, UserError
from gym_host.serving.head import Head, ServerEntry
from gym_host.serving.head_client import config_of, find_head, read_head, running_heads, running_servers, unfit
from gym_host.serving.head_notes import noted, notes_folder, read_notes
from tests.support.heads import KEY, Server, head, instance
from tests.support.servers import free_port


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


# Finding it


async def test_the_only_head_of_this_machine_is_found_and_leaves_nothing_behind():
    async with head(Server("one", 81)) as note:
        assert (await find_head(None)).url == note.url
        assert len(list(notes_folder().glob("*.json"))) == 1
    assert list(notes_folder().glob("*.json")) == []
    with pytest.raises(UserError, match="no servers are running") as caught:
        await find_head(None)
    assert "gym env start" in str(caught.value.mend)


async def test_of_several_heads_one_has_to_be_named():
    async with head(Server("one", 81)) as note:
        other = note.model_copy(update={"url": note.url.replace("127.0.0.1", "localhost")})
        (notes_folder() / "other.json").write_bytes(orjson.dumps(other.model_dump()))
        assert len(await running_heads()) == 2
        with pytest.raises(UserError, match="more than one head") as caught:
            await find_head(None)
        assert note.url in caught.value.what
        assert (await find_head(f"{note.url}/")).url == note.url


async def test_a_head_that_is_named_and_is_not_there_or_is_none_is_said_so():
    with pytest.raises(UserError, match="cannot be reached") as caught:
        await find_head(f"http://127.0.0.1:{free_port()}")
    assert caught.value.where == "--head"
    async with head() as note:
        with pytest.raises(ServerError):
            await read_head(f"{note.url}/config")


def test_a_note_of_a_process_that_is_gone_is_cleared_away_and_one_of_another_machine_is_let_be():
    folder = notes_folder()
    folder.mkdir(parents=True)
    with noted("http://127.0.0.1:1") as note:
        gone = note.model_copy(update={"pid": 2**22 + 1})
        elsewhere = note.model_copy(update={"machine": "another", "pid": 2**22 + 1})
        for name, content in {"gone": gone, "elsewhere": elsewhere}.items():
            (folder / f"{name}.json").write_bytes(orjson.dumps(content.model_dump()))
        (folder / "torn.json").write_text('{"url": "ht')
        assert read_notes() == [note]
        assert (folder / "elsewhere.json").exists()
        assert not (folder / "gone.json").exists()
        assert not (folder / "torn.json").exists()


async def test_a_note_whose_process_is_now_another_is_recognised():
    async with head(Server("one", 81)) as note:
        # The parent of the tests lives, and is no head; what answers at the address says that it is another process.
        other = note.model_copy(update={"pid": os.getppid()})
        path = notes_folder() / f"{other.machine}-{other.pid}.json"
        path.write_bytes(orjson.dumps(other.model_dump()))
        assert [found.pid for found in await running_heads()] == [os.getpid()]
        assert not path.exists()


async def test_without_a_place_for_notes_the_head_runs_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    async with head(Server("one", 81)) as note:
        assert (await find_head(note.url)).servers[0].name == "one"


# Using the servers


async def test_running_servers_are_called_by_name():
    async with head() as target:
        port = int(target.url.rpartition(":")[2])
        async with head(Server("it", port)) as note:
            async with running_servers(note.url, [instance("it")]) as calls:
                assert await calls.call("it", "/livez") == {"status": "ok"}
            assert (await config_of(await find_head(note.url))).values == {"it": {"responses_api_models": {"provider": {}}}}


async def test_a_server_that_is_missing_not_ready_or_started_otherwise_is_refused():
    servers = Server("policy_model", 81, model="careful", api_key=KEY), Server("judge", 82, state="starting")
    needed = [instance("policy_model", model="careless", api_key="another-secret"), instance("judge"), instance("policy_modle")]
    async with head(*servers) as note:
        with pytest.raises(UserError) as caught:
            async with running_servers(note.url, needed):
                pass
    said = str(caught.value)
    assert "responses_api_models.provider.model is 'careful' there, and here 'careless'" in said
    assert "the server `judge` is not ready: starting" in said
    assert "the server `policy_modle` is not running" in said
    assert "did you mean `policy_model`?" in said
    assert "another-secret" not in said


def entry(name: str) -> ServerEntry:
    return ServerEntry(name=name, type="responses_api_models", folder="provider", url="u", pid=1, state="ready")


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [
        ({"model": "a", "port": 81, "host": "127.0.0.1"}, {"model": "a"}, True),
        ({"model": "a"}, {"model": "a", "port": 99}, True),
        ({"model": "a"}, {"model": "a", "price_per_million": {"input": 1, "output": 2}}, True),
        ({"model": "a"}, {"model": "a", "max_body_mib": 512}, True),
        ({"model": "a", "request_timeout_seconds": 60}, {"model": "a", "request_timeout_seconds": 600}, True),
        ({"api_key": "****"}, {"api_key": KEY}, True),
        ({"base_url": "https://****@host/v1"}, {"base_url": "https://me:pass@host/v1"}, True),
        ({"model": "a"}, {"model": "b"}, False),
        ({"model": "a"}, {"model": "a", "temperature": 0}, False),
    ],
)
def test_settings_are_compared_without_what_decides_nothing_of_what_comes_out_and_without_secrets(
    found: dict[str, Any], wanted: dict[str, Any], fits: bool
):
    config = Config({"it": {"responses_api_models": {"provider": found}}}, ())
    running = Head(url="u", pid=1, started_at="now", servers=[entry("it")])
    assert (unfit(running, config, [instance("it", **wanted)]) == []) is fits


def test_a_server_of_the_same_name_and_another_program_does_not_fit():
    config = Config({"it": {"responses_api_models": {"other": {}}}}, ())
    running = Head(url="u", pid=1, started_at="now", servers=[entry("it")])
    assert len(unfit(running, config, [instance("it")])) == 1
