# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Fetching the pack from a server that may be wrong, silent, or not there."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from vera_mh.errors import PackError
from vera_mh.fetch import SIZE_LIMIT, SOURCE, fetch_pack, missing_files
from vera_mh.pack import VERA_MH, Manifest

CONTENTS = {"rubric.tsv": b"a\tb\r\n1\t2", "LICENSE": b"You may."}
MANIFEST = Manifest(
    name="vera_mh_v1.2",
    rubric_version="1",
    repository="owner/name",
    revision="abc",
    sha256={name: hashlib.sha256(content).hexdigest() for name, content in CONTENTS.items()},
    upstream_paths={"rubric.tsv": "data/rubric.tsv"},
)
PATHS = {"/owner/name/abc/data/rubric.tsv": "rubric.tsv", "/owner/name/abc/LICENSE": "LICENSE"}

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the machine must not stand between a test and its own server."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


class Source:
    """Serves the files, but answers for one of them as it is told."""

    def __init__(self, answer_for_rubric: Answer | None) -> None:
        self._answer_for_rubric = answer_for_rubric
        self.asked: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        name = PATHS.get(request.path)
        self.asked.append(name or request.path)
        if name is None:
            return web.Response(status=404)
        if name == "rubric.tsv" and self._answer_for_rubric is not None:
            return await self._answer_for_rubric(request)
        return web.Response(body=CONTENTS[name])


@asynccontextmanager
async def source(answer_for_rubric: Answer | None = None) -> AsyncIterator[Source]:
    serving = Source(answer_for_rubric)
    app = web.Application()
    app.router.add_get("/{path:.*}", serving.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0))
    await web.SockSite(runner, listening).start()
    serving.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        yield serving
    finally:
        await runner.cleanup()


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


async def fetch(url: str, folder: Path, *, manifest: Manifest = MANIFEST, timeout_seconds: float = 10) -> list[str]:
    """Fetches, and returns what was reported."""
    reports: list[str] = []
    await fetch_pack(manifest, folder, write=write, report=reports.append, source=url, timeout_seconds=timeout_seconds)
    return reports


async def refused(answer: Answer, folder: Path, timeout_seconds: float = 10) -> str:
    """The message with which a pack is refused whose rubric is answered so; nothing of it may have been kept."""
    async with source(answer) as serving:
        with pytest.raises(PackError) as caught:
            await fetch(serving.url, folder, timeout_seconds=timeout_seconds)
    assert not (folder / "rubric.tsv").exists()
    assert f"{serving.url}/owner/name/abc/data/rubric.tsv" in str(caught.value)
    assert "VERA_MH_PACK" in str(caught.value)
    return str(caught.value)


async def test_all_files_are_fetched_from_the_pinned_commit_and_kept_as_they_are(tmp_path):
    async with source() as serving:
        reports = await fetch(serving.url, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == CONTENTS
    assert reports == ["[1/2] rubric.tsv, 8 bytes, hash holds", "[2/2] LICENSE, 8 bytes, hash holds"]


async def test_only_what_is_missing_is_fetched_and_what_differs_is_left_alone(tmp_path):
    (tmp_path / "rubric.tsv").write_bytes(b"mine")
    assert missing_files(MANIFEST, tmp_path) == ["LICENSE"]
    async with source() as serving:
        await fetch(serving.url, tmp_path)
    assert serving.asked == ["LICENSE"]
    assert (tmp_path / "rubric.tsv").read_bytes() == b"mine"


async def test_a_complete_folder_asks_nobody(tmp_path):
    for name, content in CONTENTS.items():
        (tmp_path / name).write_bytes(content)
    async with source() as serving:
        assert await fetch(serving.url, tmp_path) == []
    assert serving.asked == []


async def test_a_file_of_another_hash_is_not_kept_and_both_hashes_are_named(tmp_path):
    async def other(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"other")

    message = await refused(other, tmp_path)
    assert MANIFEST.sha256["rubric.tsv"] in message
    assert hashlib.sha256(b"other").hexdigest() in message


@pytest.mark.parametrize("status", [404, 403, 500])
async def test_an_error_status_is_named_and_its_page_is_no_file(tmp_path, status):
    async def error(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, body=CONTENTS["rubric.tsv"])

    assert f"HTTP {status}" in await refused(error, tmp_path)


@pytest.mark.parametrize("begun", [False, True])
async def test_a_server_that_falls_silent_is_given_up_after_the_time_for_a_file(tmp_path, begun):
    async def silent(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        if begun:
            await answer.prepare(request)
            await answer.write(b"a")
        await asyncio.Event().wait()
        return answer

    started = time.monotonic()
    assert "no answer in time" in await refused(silent, tmp_path, timeout_seconds=0.2)
    assert time.monotonic() - started < 5


async def test_a_file_without_end_is_given_up_at_the_limit(tmp_path):
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        answer = web.StreamResponse()
        await answer.prepare(request)
        while True:
            await answer.write(bytes(1 << 20))
            sent += 1 << 20

    assert "is larger than any file of a pack" in await refused(endless, tmp_path)
    assert sent < 10 * SIZE_LIMIT


async def test_a_connection_that_breaks_off_is_no_file(tmp_path):
    async def broken(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Length": "8"})
        await answer.prepare(request)
        await answer.write(CONTENTS["rubric.tsv"][:4])
        assert request.transport is not None
        request.transport.close()
        return answer

    assert "cannot be fetched" in await refused(broken, tmp_path)


async def test_a_source_that_is_not_there_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with pytest.raises(PackError, match=f"{url}/owner/name/abc/data/rubric.tsv cannot be fetched"):
        await fetch(url, tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_a_proxy_of_the_environment_is_used(tmp_path, monkeypatch):
    async with source() as proxy:
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("http_proxy", proxy.url)
        await fetch("http://source.invalid", tmp_path)
    assert proxy.asked == ["rubric.tsv", "LICENSE"]


def test_the_source_is_github_over_https():
    assert SOURCE == "https://raw.githubusercontent.com"
    assert set(VERA_MH.upstream_paths) == set(VERA_MH.sha256)
    assert VERA_MH.upstream_paths["rubric.tsv"] == "data/rubric.tsv"
    assert VERA_MH.upstream_paths["LICENSE"] == "LICENSE"


async def test_what_was_fetched_before_a_failure_stays_and_is_not_fetched_again(tmp_path):
    async def other(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"other")

    backwards = replace(MANIFEST, sha256={name: MANIFEST.sha256[name] for name in ("LICENSE", "rubric.tsv")})
    async with source(other) as serving:
        with pytest.raises(PackError):
            await fetch(serving.url, tmp_path, manifest=backwards)
    async with source() as serving:
        await fetch(serving.url, tmp_path)
    assert serving.asked == ["rubric.tsv"]
