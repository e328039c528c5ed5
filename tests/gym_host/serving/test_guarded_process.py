# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A server that is started as NeMo Gym does it (`python app.py`, two environment variables): whom it lets in, what it says."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.gym_host.serving.test_server import environment
from tests.support.components import SumsRoot, wait_until
from tests.support.servers import free_port

TOKEN = "a-token-of-this-test-alone"


@pytest.fixture
def root(tmp_path: Path) -> SumsRoot:
    return SumsRoot(tmp_path / "root")


def run_until_asked(root: SumsRoot, ask: list[tuple[str, bytes | None, str | None]], **more: object) -> list[int]:
    """Starts the agent, asks it, and stops it: the status of each answer. What it printed lies beside its log."""
    variables = {"GYM_SERVER_TOKEN": str(more.pop("token"))} if "token" in more else {}
    port = free_port()
    block = {"entrypoint": "app.py", "port": port, "log": str(root.log), **more}
    config = yaml.safe_dump({"sums": {"responses_api_agents": {"sums_agent": block}}})
    variables |= {"NEMO_GYM_CONFIG_DICT": config, "NEMO_GYM_CONFIG_PATH": "sums"}
    folder = root.path / "responses_api_agents/sums_agent"
    process = subprocess.Popen(
        [sys.executable, "app.py"], cwd=folder, env=environment(**variables), stderr=subprocess.PIPE, text=True
    )
    try:
        wait_until(lambda: process.poll() is not None or status(port, "/livez", None, None) == 200)
        return [status(port, *each) for each in ask]
    finally:
        process.terminate()
        _, said = process.communicate(timeout=20)
        root.log.with_suffix(".err").write_text(said)


def status(port: int, path: str, body: bytes | None, token: str | None) -> int:
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except urllib.error.URLError:
        return 0


def printed(root: SumsRoot) -> str:
    return root.log.with_suffix(".err").read_text()


def test_the_token_of_its_environment_is_asked_for(root: SumsRoot):
    row = json.dumps({"number": 1, "_ng_task_index": 0, "_ng_rollout_index": 0}).encode()
    asked = run_until_asked(root, [("/", None, None), ("/run", row, None), ("/run", row, TOKEN)], token=TOKEN)
    assert asked == [401, 401, 200]
    assert printed(root) == ""


def test_its_settings_say_how_large_a_body_may_be(root: SumsRoot):
    fits, too_large = (json.dumps({"x": "x" * size}).encode() for size in (2**20 - 100, 2**20))
    asked = run_until_asked(root, [("/aggregate_metrics", too_large, None), ("/run", too_large, None)], max_body_mib=1)
    assert asked[1] == 413
    assert asked[0] != 413
    asked = run_until_asked(root, [("/run", fits, None)], max_body_mib=1)
    assert asked != [413]


@pytest.mark.parametrize(("token", "told"), [("", "they ask for no token"), (TOKEN, "has the token (GYM_SERVER_TOKEN)")])
def test_where_it_listens_for_other_machines_it_says_so_loudly(root: SumsRoot, token: str, told: str):
    run_until_asked(root, [], host="0.0.0.0", token=token)
    assert printed(root).startswith("WARNING: listening on 0.0.0.0. ")
    assert told in printed(root)
    assert TOKEN not in printed(root)


def test_on_this_machine_alone_it_has_nothing_to_say(root: SumsRoot):
    run_until_asked(root, [])
    assert printed(root) == ""
