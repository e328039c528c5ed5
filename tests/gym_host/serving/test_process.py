# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where a server process listens, and the addresses of others."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
import yaml

from gym_host.errors import UserError
from gym_host.serving.process import base_url, is_everywhere, listening_socket, serve
from tests.support import sums_server


def test_a_server_whose_port_is_taken_says_so_and_ends_with_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        block = {"entrypoint": "app.py", "port": port, "log": str(tmp_path / "log")}
        monkeypatch.setenv("NEMO_GYM_CONFIG_DICT", yaml.safe_dump({"sums": {"responses_api_agents": {"sums_agent": block}}}))
        monkeypatch.setenv("NEMO_GYM_CONFIG_PATH", "sums")
        with pytest.raises(SystemExit) as caught:
            serve(sums_server.Settings, sums_server.create_app)
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert f"nothing can listen on port {port} of 127.0.0.1: another program listens there" in said
    assert "where: sums.port" in said


@pytest.mark.parametrize(
    ("host", "told"), [("192.0.2.1", "this machine has no such address"), ("no.such.host.invalid", "nothing can listen on port")]
)
def test_a_host_that_is_not_of_this_machine_is_told(host: str, told: str):
    with pytest.raises(UserError, match=told):
        listening_socket(host, 0, where="it.host")


def test_a_number_that_no_port_has_is_told():
    with pytest.raises(UserError, match="99999 is no port"):
        listening_socket("127.0.0.1", 99_999, where="it.port")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems may let anybody listen there")
def test_a_socket_listens_for_as_many_callers_as_a_large_run_has_at_once():
    with listening_socket("127.0.0.1", 0, where="it.port") as listener:
        callers = [socket.create_connection(listener.getsockname()) for _ in range(300)]
        for caller in callers:
            caller.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems may hand the option on otherwise")
def test_an_answer_in_two_parts_does_not_wait_for_the_acknowledgement_of_the_first():
    with listening_socket("127.0.0.1", 0, where="it.port") as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:81"),
        ("0.0.0.0", "http://127.0.0.1:81"),
        ("::", "http://[::1]:81"),
        ("fe80::1", "http://[fe80::1]:81"),
        ("gym.example", "http://gym.example:81"),
    ],
)
def test_a_host_and_port_make_a_url_that_this_machine_reaches(host: str, url: str):
    assert base_url(host, 81) == url
    assert is_everywhere(host) is (host in ("0.0.0.0", "::"))
