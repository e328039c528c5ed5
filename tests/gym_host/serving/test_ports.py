# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where servers listen."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from gym_host.config.configuration import Instance
from gym_host.config.interpolation import resolved
from gym_host.errors import ConfigError, UserError
from gym_host.serving.ports import handed_over, place, port_faults
from gym_host.serving.process import is_loopback
from tests.support.servers import free_port


def instance(name: str, **settings: Any) -> Instance:
    return Instance(name, "responses_api_models", "provider", settings, Path("app.py"))


def test_every_server_gets_a_free_port_of_its_own_on_this_machine_only():
    placed = place([instance(f"model_{number}") for number in range(20)])
    assert [one.name for one in placed] == [f"model_{number}" for number in range(20)]
    assert len({one.port for one in placed}) == 20
    assert {one.host for one in placed} == {"127.0.0.1"}
    for one in placed:
        with socket.create_server(("127.0.0.1", one.port)):
            assert one.url == f"http://127.0.0.1:{one.port}"


def test_host_and_port_of_a_block_are_kept_and_the_order_stays():
    port = free_port()
    free, own, elsewhere = place(
        [instance("free"), instance("own", port=str(port)), instance("elsewhere", host="localhost")], host="127.0.0.1"
    )
    assert (own.name, own.host, own.port) == ("own", "127.0.0.1", port)
    assert (elsewhere.name, elsewhere.host) == ("elsewhere", "localhost")
    assert len({free.port, own.port, elsewhere.port}) == 3


def test_a_server_that_listens_everywhere_is_called_on_this_machine():
    (placed,) = place([instance("it", host="0.0.0.0")])
    assert placed.url == f"http://127.0.0.1:{placed.port}"


def test_a_port_in_use_is_named_with_its_instance():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(UserError) as caught:
            place([instance("other"), instance("it", port=taken.getsockname()[1])])
    assert caught.value.what.startswith("`it`: nothing can listen on port")
    assert caught.value.where == "it.responses_api_models.provider.port"


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_a_host_that_is_not_of_this_machine_is_named(host: str):
    with pytest.raises(UserError) as caught:
        place([instance("it", host=host)])
    assert host in caught.value.what


@pytest.mark.parametrize("port", ["many", 0, 70_000, True, -1])
def test_what_is_no_port_is_said_so(port: Any):
    with pytest.raises(ConfigError, match="is no port"):
        place([instance("it", port=port)])


def test_two_servers_that_want_one_port_are_named_and_on_two_hosts_they_may():
    (fault,) = port_faults([instance("one", port=81), instance("two", port="81"), instance("three", port=82)])
    assert fault.what == "`one` and `two` both want port 81"
    assert port_faults([instance("one", port=81), instance("two", port=81, host="::1")]) == []


def test_a_configuration_is_handed_over_as_it_was_resolved_with_every_host_and_port():
    values = {
        "one": {"responses_api_models": {"provider": {"text": "a ${literal} \\${one} ä", "list": ["${x}"], "number": 1.5}}},
        "relay": {"environment_servers": {"legacy_agent": {"none": None}}},
        "key": "value: with # yaml",
    }
    (placed,) = place([instance("one")])
    text = handed_over(values, [placed])
    tree: Any = OmegaConf.create(yaml.safe_load(text))
    received = resolved(tree, {})
    block = received["one"]["responses_api_models"]["provider"]
    assert block.pop("host") == "127.0.0.1"
    assert block.pop("port") == placed.port
    assert received == values


@pytest.mark.parametrize(
    ("host", "only_this_machine"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.9.9.9", True), ("0.0.0.0", False), ("10.0.0.1", False)],
)
def test_what_only_this_machine_reaches_is_told_from_what_others_reach(host: str, only_this_machine: bool):
    assert is_loopback(host) is only_this_machine
