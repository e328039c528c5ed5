# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What every server is made of, and a server as a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import httpx
import pytest
import yaml
from fastapi import Depends, Request
from pydantic import BaseModel

from gym_host.errors import ServerError
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.process import addresses, serve
from gym_host.serving.server import JsonApp, JsonBytes, ServerContext, base_app, described_body, row_of, unprocessable
from tests.support import sums_server
from tests.support.components import SumsRoot, sum_row
from tests.support.servers import free_port

SetEnvironment = Callable[[str], None]

DRIFTED = """
from gym_host.serving.process import serve
from gym_host.config.settings import ServerSettings

class Drifted(Exception):
    pass

def create_app(settings, context):
    raise Drifted("rubric.tsv is not the pinned file")

serve(ServerSettings, create_app)
"""


def configuration(root: SumsRoot, **settings: Any) -> dict[str, Any]:
    """A whole configuration, as NeMo Gym hands it over: other servers are in it too."""
    block = {"entrypoint": "app.py", "host": "127.0.0.1", "port": 3, "log": str(root.log), **settings}
    return {
        "some_key": "x",
        "head_server": {"host": "127.0.0.1", "port": 1},
        "other": {"responses_api_models": {"model": {"host": "127.0.0.1", "port": 2, "entrypoint": "app.py"}}},
        "sums": {"responses_api_agents": {"sums_agent": block}},
    }


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEMO_GYM_")}
    return kept | variables


def start(program: Path, variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """Starts a server as NeMo Gym does: `python app.py` in its folder."""
    return subprocess.Popen(
        [sys.executable, program.name],
        cwd=program.parent,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def served(program: Path, config: Mapping[str, Any], port: int) -> Iterator[str]:
    """A server that is up; its base URL."""
    process = start(program, {"NEMO_GYM_CONFIG_DICT": yaml.safe_dump(config), "NEMO_GYM_CONFIG_PATH": "sums"})
    base, end = f"http://127.0.0.1:{port}", time.monotonic() + 20
    try:
        while True:
            try:
                get(f"{base}/livez")
                break
            except urllib.error.URLError:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end
                time.sleep(0.01)
        yield base
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=5) as response:
        return json.loads(response.read())


def post(url: str, body: Any) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.loads(response.read())


def refusal(program: Path, **variables: str) -> str:
    """What a server says that does not start."""
    process = start(program, variables)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, ""), err
    assert "Traceback" not in err
    assert 1 <= err.count("\n") <= 6
    return err


def refusal_here(capsys: pytest.CaptureFixture[str]) -> str:
    """What a server says that does not start in the test's own process."""
    with pytest.raises(SystemExit) as caught:
        serve(sums_server.Settings, sums_server.create_app)
    assert caught.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert 1 <= err.count("\n") <= 6
    return err


@pytest.fixture
def environment_of(monkeypatch: pytest.MonkeyPatch) -> SetEnvironment:
    """Sets the two variables for the server `sums`."""

    def set_variables(config: str) -> None:
        monkeypatch.setenv("NEMO_GYM_CONFIG_DICT", config)
        monkeypatch.setenv("NEMO_GYM_CONFIG_PATH", "sums")

    return set_variables


@pytest.fixture
def root(tmp_path: Path) -> SumsRoot:
    return SumsRoot(tmp_path / "root")


@pytest.fixture
def program(root: SumsRoot) -> Path:
    return root.path / "responses_api_agents/sums_agent/app.py"


# The base of every app


async def test_every_app_answers_on_livez_and_says_who_it_is():
    app = base_app(ServerContext("judge", InMemoryCalls()), about={"pack_sha256": "abc"})
    calls = InMemoryCalls({"judge": app})
    assert await calls.call("judge", "/livez") == {"status": "ok"}
    assert await calls.call("judge", "/") == {"status": "ok", "name": "judge", "about": {"pack_sha256": "abc"}}


@pytest.mark.parametrize(("status", "passed_on"), [(None, 502), (400, 400), (404, 404), (429, 429), (500, 502), (503, 502)])
async def test_an_error_of_another_server_is_passed_on_in_its_words(status: int | None, passed_on: int):
    app = base_app(ServerContext("agent", InMemoryCalls()))

    @app.post("/run")
    async def run() -> None:
        raise ServerError("model", "/v1/responses", status, "no room left")

    with pytest.raises(ServerError) as caught:
        await InMemoryCalls({"agent": app}).call("agent", "/run", {})
    assert caught.value.status == passed_on
    assert "model/v1/responses" in caught.value.message
    assert "no room left" in caught.value.message


async def test_a_request_that_cannot_be_read_is_answered_in_the_words_of_the_error():
    app = base_app(ServerContext("agent", InMemoryCalls()))
    app.add_exception_handler(LookupError, unprocessable)

    @app.post("/run")
    async def run() -> None:
        raise LookupError("the row has no conversation")

    with pytest.raises(ServerError) as caught:
        await InMemoryCalls({"agent": app}).call("agent", "/run", {})
    assert (caught.value.status, caught.value.message) == (422, "the row has no conversation")


class Numbered(BaseModel):
    """A row with a number."""

    number: int


async def numbered_row(body: bytes) -> tuple[int, Any]:
    """What comes of posting a body where a row with a number is wanted."""
    app = JsonApp()

    @app.post("/run", openapi_extra=described_body(Numbered))
    async def run(request: Request, row: Annotated[dict[str, Any], Depends(row_of(Numbered))]) -> JsonBytes:
        with pytest.raises(RuntimeError, match="Stream consumed"):
            await request.body()
        return JsonBytes(row)

    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://agent") as client:
        answer = await client.post("/run", content=body, headers={"content-type": "application/json"})
    return answer.status_code, answer.json()


async def test_a_large_row_comes_as_it_is_and_its_request_keeps_no_copy_of_it():
    sent = {"number": 1, "text": "word " * 100_000, "more": {"a": [None]}}
    assert await numbered_row(json.dumps(sent).encode()) == (200, sent)


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        (b'{"number": ', ["body", 11], "JSON decode error"),
        (b"", ["body", 0], "JSON decode error"),
        (b"[1]", ["body"], "dictionary"),
        (b'{"number": "many"}', ["body", "number"], "integer"),
        (b"{}", ["body", "number"], "required"),
    ],
)
async def test_a_large_row_that_is_not_right_is_refused_by_its_place(body: bytes, place: list[str | int], words: str):
    status, answer = await numbered_row(body)
    (fault,) = answer["detail"]
    assert (status, fault["loc"]) == (422, place)
    assert words in fault["msg"]


# Addresses


def test_every_server_with_a_port_has_an_address_and_one_that_listens_everywhere_is_called_at_home():
    config = {
        "judge": {"resources_servers": {"vera_mh": {"host": "10.0.0.5", "port": 81}}},
        "agent": {"responses_api_agents": {"agent": {"host": "0.0.0.0", "port": 82}}},
        "model": {"responses_api_models": {"provider": {"port": 83}}},
        "no_port": {"responses_api_models": {"provider": {"host": "127.0.0.1"}}},
        "relay": {"environment_servers": {"legacy_agent": {"host": "127.0.0.1", "port": 84}}},
        "policy_model_name": "m",
        "nothing": None,
    }
    assert addresses(config) == {
        "judge": "http://10.0.0.5:81",
        "agent": "http://127.0.0.1:82",
        "model": "http://127.0.0.1:83",
    }


# As a process


def test_a_server_started_as_nemo_gym_does_answers_on_its_port(root: SumsRoot, program: Path):
    port = free_port()
    with served(program, configuration(root, port=port, greeting="hi"), port) as base:
        assert get(f"{base}/") == {"status": "ok", "name": "sums", "about": {"greeting": "hi"}}
        row = sum_row(4) | {"_ng_task_index": 0, "_ng_rollout_index": 0}
        assert post(f"{base}/run", row)["reward"] == 4
    with pytest.raises(urllib.error.URLError):
        get(f"{base}/livez")


def test_a_server_without_its_environment_says_which_variable_is_missing(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert "the environment variable NEMO_GYM_CONFIG_DICT is not set" in refusal(program)
    monkeypatch.setenv("NEMO_GYM_CONFIG_DICT", "{}")
    monkeypatch.delenv("NEMO_GYM_CONFIG_PATH", raising=False)
    said = refusal_here(capsys)
    assert "NEMO_GYM_CONFIG_PATH is not set" in said
    assert "gym env start" in said


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"gretting": "hi"}, "did you mean `greeting`?"),
        ({"bonus": "much"}, "sums.responses_api_agents.sums_agent.bonus = 'much'"),
        ({"port": None}, "sums.port"),
        ({"log": None}, "the setting `log` is wrong"),
    ],
)
def test_a_server_with_wrong_settings_names_them(
    root: SumsRoot, settings: dict[str, Any], told: str, environment_of: SetEnvironment, capsys: pytest.CaptureFixture[str]
):
    environment_of(yaml.safe_dump(configuration(root, **settings)))
    assert told in refusal_here(capsys)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("{}", "the configuration has no server of the name sums"),
        ("sums: {responses_api_agents: 3}", "the configuration has no server of the name sums"),
        ("a: [1, 2\nb: 3", "NEMO_GYM_CONFIG_DICT is no YAML"),
        ("just words", "NEMO_GYM_CONFIG_DICT is no mapping"),
    ],
)
def test_a_server_with_a_configuration_that_it_cannot_read_says_so(
    config: str, told: str, environment_of: SetEnvironment, capsys: pytest.CaptureFixture[str]
):
    environment_of(config)
    assert told in refusal_here(capsys)


def test_a_server_that_refuses_to_start_is_quoted_and_not_traced(tmp_path: Path):
    program = tmp_path / "app.py"
    program.write_text(DRIFTED)
    config = "sums: {resources_servers: {judge: {entrypoint: app.py, port: 1}}}"
    said = refusal(program, NEMO_GYM_CONFIG_DICT=config, NEMO_GYM_CONFIG_PATH="sums")
    assert "rubric.tsv is not the pinned file" in said
