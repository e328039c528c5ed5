# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""All servers of a configuration in one process."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gym_host.config.configuration import Instance
from gym_host.errors import ConfigError, ServerError
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.local import build_apps, load_program, running
from tests.support.components import SumsRoot, sum_row

WITH_LIFESPAN = """
from contextlib import asynccontextmanager
from gym_host.serving.server import base_app
from gym_host.config.settings import ServerSettings

class Settings(ServerSettings):
    log: str

def create_app(settings, context):
    @asynccontextmanager
    async def lifespan(app):
        with open(settings.log, "a") as log:
            log.write(f"{context.name} opens\\n")
        yield
        with open(settings.log, "a") as log:
            log.write(f"{context.name} closes\\n")
    app = base_app(context, lifespan=lifespan)

    @app.post("/ask")
    async def ask() -> dict:
        return await context.servers.call("second", "/")
    return app
"""


def server(tmp_path: Path, program: str, name: str = "it", folder: str = "thing", **settings: object) -> Instance:
    app = tmp_path / folder / "app.py"
    app.parent.mkdir(parents=True, exist_ok=True)
    app.write_text(program)
    return Instance(name, "resources_servers", folder, dict(settings), app)


async def test_servers_run_together_and_call_each_other_by_name(tmp_path: Path):
    log = tmp_path / "log"
    instances = [server(tmp_path, WITH_LIFESPAN, name, log=str(log)) for name in ("first", "second")]
    async with running(instances) as calls:
        assert log.read_text() == "first opens\nsecond opens\n"
        assert (await calls.call("first", "/ask", {}))["name"] == "second"
    assert log.read_text() == "first opens\nsecond opens\nsecond closes\nfirst closes\n"


async def test_servers_close_in_order_though_the_run_ends_in_an_error(tmp_path: Path):
    log = tmp_path / "log"
    with pytest.raises(KeyError):
        async with running([server(tmp_path, WITH_LIFESPAN, "first", log=str(log))]):
            raise KeyError
    assert log.read_text() == "first opens\nfirst closes\n"


async def test_two_instances_of_a_program_have_settings_of_their_own(tmp_path: Path):
    root = SumsRoot(tmp_path / "root")
    agent, _ = root.instances(bonus=1.0)
    other = dataclasses.replace(agent, name="other", settings=agent.settings | {"bonus": 10.0})
    row = sum_row(2) | {"_ng_task_index": 0, "_ng_rollout_index": 0}
    async with running([agent, other]) as calls:
        assert [(await calls.call(name, "/run", row))["reward"] for name in ("sums", "other")] == [3.0, 12.0]


async def test_a_program_of_the_same_name_in_another_root_is_another_program(tmp_path: Path):
    first = server(tmp_path / "a", WITH_LIFESPAN, log=str(tmp_path / "a.log"))
    second = server(tmp_path / "b", WITH_LIFESPAN.replace("/ask", "/question"), log=str(tmp_path / "b.log"))
    async with running([first]) as calls:
        with pytest.raises(ServerError, match="Method Not Allowed|Not Found"):
            await calls.call("it", "/question", {})
    async with running([second]) as calls:
        with pytest.raises(ServerError, match="no server of this name"):
            await calls.call("it", "/question", {})


def refusal(instance: Instance) -> str:
    with pytest.raises(ConfigError) as caught:
        build_apps([instance], InMemoryCalls())
    return str(caught.value)


def test_wrong_settings_are_named_with_their_place(tmp_path: Path):
    said = refusal(server(tmp_path, WITH_LIFESPAN, lgo="x", log="x"))
    assert "it.resources_servers.thing.lgo" in said
    assert "did you mean `log`?" in said


def test_settings_of_all_servers_are_looked_at_before_any_server_is_built(tmp_path: Path):
    log = tmp_path / "log"
    building = WITH_LIFESPAN.replace("    @asynccontextmanager", "    open(settings.log, 'w').close()\n    @asynccontextmanager")
    first = server(tmp_path, building, "first", "first", log=str(log))
    with pytest.raises(ConfigError, match="the setting `log` is missing"):
        build_apps([first, server(tmp_path, WITH_LIFESPAN, "second", "second")], InMemoryCalls())
    assert not log.exists()
    build_apps([first], InMemoryCalls())
    assert log.exists()


def test_a_server_that_refuses_to_start_is_named_and_quoted(tmp_path: Path):
    program = WITH_LIFESPAN + "\ndef create_app(settings, context):\n    raise LookupError('drifted')"
    said = refusal(server(tmp_path, program, log="x"))
    assert said == "the server `it` does not start: drifted"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("import a_package_that_nobody_has", "No module named 'a_package_that_nobody_has'"),
        ("def create_app(:", "invalid syntax"),
        ("raise RuntimeError('no display')", "no display"),
    ],
)
def test_a_program_that_cannot_be_imported_is_named_and_not_traced(tmp_path: Path, program: str, told: str):
    said = refusal(server(tmp_path, program))
    assert told in said
    assert str(tmp_path / "thing" / "app.py") in said


@pytest.mark.parametrize("program", ["", "Settings = dict\ndef create_app(): ...", WITH_LIFESPAN.replace("create_app", "make")])
def test_a_program_without_settings_and_create_app_is_no_server(tmp_path: Path, program: str):
    with pytest.raises(ConfigError, match="has no `Settings` and `create_app`"):
        load_program(server(tmp_path, program))


def test_a_server_without_a_program_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="there is no program for `it`") as caught:
        load_program(Instance("it", "resources_servers", "thing", {}, None))
    assert caught.value.where == "it.resources_servers.thing"
