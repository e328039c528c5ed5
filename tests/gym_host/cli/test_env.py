# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env start` and `gym env status`, with real processes."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gym_host.cli.main import main
from gym_host.serving.head_client import running_servers
from tests.support.components import SumsRoot, lines_in, sum_row, wait_until
from tests.support.demo import demo_rows
from tests.support.servers import Started, command_line_of, env_start, environment_of, free_port, get, post

KEY = "sk-this-is-a-secret-key"

PLAIN = """
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
import yaml

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass

config, name = yaml.safe_load(os.environ["NEMO_GYM_CONFIG_DICT"]), os.environ["NEMO_GYM_CONFIG_PATH"]
((block,),) = [folders.values() for folders in config[name].values()]
HTTPServer((block["host"], block["port"]), Handler).serve_forever()
"""

SLOW = """
import time
print("thinking about it", flush=True)
time.sleep(60)
"""


def sums(root: SumsRoot, *words: str) -> tuple[str | Path, ...]:
    return ("--search-dir", root.path, "--benchmark", "sums", *words)


def dispatched(row: dict[str, object]) -> dict[str, object]:
    return row | {"_ng_task_index": 0, "_ng_rollout_index": 0}


def stop(started: Started, number: int) -> None:
    """Stops servers by one signal, which must leave no process, no port and no note behind."""
    traces = started.traces()
    traces.assert_there()
    started.process.send_signal(number)
    assert started.ended() == 0
    traces.assert_gone()
    assert "stopping the servers\n" in started.err.text
    assert started.err.text.endswith("all servers are stopped\n")
    assert not list(Path(started.environ["XDG_CACHE_HOME"]).rglob("*.json"))


@pytest.fixture
def root(tmp_path: Path) -> SumsRoot:
    return SumsRoot(tmp_path / "root")


@pytest.fixture
def plain(root: SumsRoot) -> SumsRoot:
    """The same with servers that know nothing of us, and of which the host knows only the contract."""
    for program in root.path.glob("*/*/app.py"):
        program.write_text(PLAIN)
    return root


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """The demo's servers, with a key that must not be seen."""
    cwd = tmp_path_factory.mktemp("demo")
    with env_start("--benchmark", "vera_mh_demo", f"+policy_api_key={KEY}", cwd=cwd) as started:
        yield started.ready()
        stop(started, signal.SIGINT)
        # No server printed anything: no warning of something left open, no traceback.
        assert not [line for line in started.err.text.splitlines() if line.startswith("[")]


# The demo


def test_every_server_is_up_and_listed_at_a_free_port_of_this_machine(demo: Started):
    servers = demo.servers()
    assert list(servers) == ["vera_mh_demo", "vera_mh_demo_agent", "policy_model", "vera_mh_demo_user", "vera_mh_demo_judge"]
    for name, server in servers.items():
        assert server["state"] == "ready"
        assert server["url"].startswith("http://127.0.0.1:")
        assert get(f"{server['url']}/")["name"] == name
    assert len({server["url"] for server in servers.values()}) == 5
    assert {"type": "responses_api_models", "folder": "scripted_model"}.items() <= servers["policy_model"].items()
    assert get(f"{demo.url}/livez") == {"status": "ok"}


def test_a_row_posted_to_the_agent_comes_back_scored(demo: Started):
    agent = demo.servers()["vera_mh_demo_agent"]["url"]
    row = next(iter(demo_rows().values()))
    scored = post(f"{agent}/run", row)
    assert 0 <= scored["reward"] <= 1
    assert scored["conversation"]


async def test_a_client_that_knows_no_address_finds_the_servers_by_the_note_of_their_head(
    demo: Started, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", demo.environ["XDG_CACHE_HOME"])
    async with running_servers(None) as calls:
        assert (await calls.call("policy_model", "/livez")) == {"status": "ok"}


def test_a_key_goes_to_the_servers_in_their_environment_and_is_seen_nowhere_else(demo: Started):
    assert KEY not in json.dumps(get(f"{demo.url}/config"))
    assert get(f"{demo.url}/config")["policy_api_key"] == "****"
    for server in demo.servers().values():
        assert KEY in environment_of(server["pid"])
        assert KEY not in command_line_of(server["pid"])
    assert KEY not in demo.out.text + demo.err.text


def test_status_lists_the_servers(demo: Started, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("XDG_CACHE_HOME", demo.environ["XDG_CACHE_HOME"])
    assert main(["env", "status"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"head {demo.url} (pid {demo.process.pid}, since ")
    assert lines[1].split() == ["server", "type", "folder", "address", "pid", "state"]
    assert [line.split()[0] for line in lines[2:-1]] == list(demo.servers())
    monkeypatch.setenv("XDG_CACHE_HOME", "/nowhere")
    assert main(["env", "status", "--json", "--head", demo.url]) == 0
    assert json.loads(capsys.readouterr().out)["heads"][0]["servers"] == list(demo.servers().values())


def test_progress_names_every_server_that_is_up(demo: Started):
    for name, server in demo.servers().items():
        assert f"{name} is up at {server['url']}\n" in demo.err.text


# The end


def test_sigterm_stops_everything_as_ctrl_c_does(plain: SumsRoot, tmp_path: Path):
    with env_start(*sums(plain), cwd=tmp_path) as started:
        stop(started.ready(), signal.SIGTERM)  # Ctrl-C is what stops the demo's servers above.


def test_a_stop_does_not_wait_for_a_row_that_runs_for_an_hour(root: SumsRoot, tmp_path: Path):
    with env_start(*sums(root), cwd=tmp_path) as started, ThreadPoolExecutor() as pool:
        url = started.ready().servers()["sums"]["url"]
        waiting = pool.submit(post, f"{url}/run", dispatched(sum_row(1, waits="open")))
        wait_until(lambda: lines_in(root.log) == 1)
        stop(started, signal.SIGINT)
        assert "503" in str(waiting.exception())
        assert "Traceback" not in started.err.text


def test_a_parent_that_is_killed_takes_its_servers_with_it_and_its_note_is_known_to_be_stale(
    plain: SumsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with env_start(*sums(plain), cwd=tmp_path) as started:
        traces = started.ready().traces()
        started.process.kill()
        started.ended()
        traces.assert_gone()
    monkeypatch.setenv("XDG_CACHE_HOME", started.environ["XDG_CACHE_HOME"])
    assert list((tmp_path / "cache").rglob("*.json"))
    assert main(["env", "status"]) == 1
    assert capsys.readouterr().out == "no servers are running on this machine\nnext: gym env start --benchmark NAME starts some\n"
    assert not list((tmp_path / "cache").rglob("*.json"))
    assert main(["env", "status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"heads": []}


def test_a_server_that_dies_is_named_and_the_others_are_stopped(plain: SumsRoot, tmp_path: Path):
    with env_start(*sums(plain, "+sums.responses_api_agents.sums_agent.num_workers=4"), cwd=tmp_path) as started:
        traces = started.ready().traces()
        assert "note: `sums` runs as one process, though num_workers asks for more\n" in started.err.text
        os.kill(started.servers()["sums_verifier"]["pid"], signal.SIGKILL)
        assert started.ended() == 1
        traces.assert_gone()
        assert "error: the server `sums_verifier` stopped by signal 9" in started.err.text


# What does not come up


def refused(root: SumsRoot, tmp_path: Path, *words: str, code: int = 2) -> str:
    """What is said by servers that do not start."""
    with env_start(*sums(root, *words), cwd=tmp_path) as started:
        assert started.ended() == code
        assert started.out.text == ""
        assert "Traceback" not in started.err.text
        return started.err.text


def test_a_server_that_refuses_to_start_is_named_with_its_last_lines(root: SumsRoot, tmp_path: Path):
    said = refused(root, tmp_path, "+sums_verifier.resources_servers.sums_verifier.gretting=hello")
    assert "error: the server `sums_verifier` ended with exit code 2; its last lines:\n" in said
    assert "    there is no setting `gretting`\n" in said
    assert "did you mean `greeting`?" in said


def test_a_server_that_never_answers_is_given_up_and_named(plain: SumsRoot, tmp_path: Path):
    (plain.path / "resources_servers/sums_verifier/app.py").write_text(SLOW)
    said = refused(plain, tmp_path, "--ready-timeout", "2")
    assert "error: the server `sums_verifier` does not answer after 2 s; its last lines:\n    thinking about it\n" in said


def test_a_start_that_is_interrupted_leaves_nothing(plain: SumsRoot, tmp_path: Path):
    (plain.path / "resources_servers/sums_verifier/app.py").write_text(SLOW)
    with env_start(*sums(plain), cwd=tmp_path) as started:
        started.err.until("thinking about it")
        traces = started.traces()
        assert started.servers()["sums_verifier"]["state"] == "starting"
        started.process.send_signal(signal.SIGINT)
        assert started.ended() == 130
        traces.assert_gone()


def test_a_port_in_use_is_named_with_the_instance_that_wants_it(
    root: SumsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = map(str, sums(root, f"+sums_verifier.resources_servers.sums_verifier.port={port}"))
        assert main(["env", "start", "--head-port", str(free_port()), *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: `sums_verifier`: nothing can listen on port {port} of 127.0.0.1: another program")
    assert "where: sums_verifier.resources_servers.sums_verifier.port" in said


def test_a_head_port_in_use_is_named(
    root: SumsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["env", "start", "--head-port", str(port), *map(str, sums(root))]) == 2
    said = capsys.readouterr().err
    assert f"nothing can listen on port {port} of 127.0.0.1" in said
    assert "where: --head-port" in said


def test_listening_beyond_this_machine_is_warned_of_and_the_servers_are_found_at_the_name_of_the_head(
    plain: SumsRoot, tmp_path: Path
):
    with env_start(*sums(plain), "--host", "0.0.0.0", cwd=tmp_path) as started:
        started.ready()
        assert "WARNING: listening on 0.0.0.0." in started.err.text
        assert "they ask for no token" in started.err.text
        other_name = get(f"{started.url.replace('127.0.0.1', 'localhost')}/servers")["servers"]
    assert all(server["url"].startswith("http://localhost:") for server in other_name)


def test_a_configuration_that_cannot_run_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(["env", "start", "--benchmark", "vera_mh_demo", "+vera_mh_demo_agent.responses_api_agents.vera_mh_agent"
                 ".model_server.name=nobody"]) == 2  # fmt: skip
    assert "there is no server `nobody`" in capsys.readouterr().err
    (tmp_path / "env.yaml").write_text("some_key: 1\n")
    assert main(["env", "start"]) == 2
    assert "has no server that can be started" in capsys.readouterr().err
    assert main(["env", "status", "--head", f"http://127.0.0.1:{free_port()}"]) == 2
    assert "where: --head" in capsys.readouterr().err
