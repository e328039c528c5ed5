# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Marked keys go through every command and every failure, and are then looked for in all that was said and written."""

from __future__ import annotations

import json
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import read_jsonl
from tests.support.demo import DEMO, PACK_FOLDER, demo_rows
from tests.support.leaky import leaky_endpoint
from tests.support.servers import command_line_of, env_start, environment_of, free_port, get
from tests.support.words import all_commands

MARK = "planted"
KEY, PASSWORD, QUERY, HEADER = (f"sk-{MARK}-key-01234567", f"{MARK}-password-42", f"{MARK}-query-77", f"{MARK}-header-99")
CONFIG = f"""
config_paths: [{DEMO}/config.yaml]
my_judge:
  responses_api_models:
    inference_provider:
      entrypoint: app.py
      base_url: ${{my_url}}
      api_key: {KEY}
      model: my-judge
      max_attempts: 2
      backoff_base_seconds: 0
      default_headers: {{X-Team: {HEADER}}}
vera_mh_demo:
  resources_servers:
    vera_mh:
      judge_model_server: {{name: my_judge}}
"""


class Watched:
    """The command, all that it ever said, and the folder that it works in."""

    def __init__(self, gym: Gym, caplog: pytest.LogCaptureFixture) -> None:
        self.gym, self.said, self._caplog = gym, "", caplog
        self.used: set[str] = set()

    def __call__(self, code: int | tuple[int, ...], *words: str) -> str:
        """Runs a command that must end with this code, or one of these."""
        said = self.gym(*words, *(() if words[0] == "tool" else ("-v",)))
        log = logging.Formatter("%(message)s")
        text = "\n".join([said.out, said.err, *map(log.format, self._caplog.records)])
        self._caplog.clear()
        self.used.add(next(command for command in all_commands() if " ".join(words).startswith(command)))
        assert said.code in (code if isinstance(code, tuple) else (code,)), said
        assert MARK not in text, text
        self.said += text
        return text

    def assert_nothing_is_written(self) -> None:
        inputs = {"my.yaml", "bad.yaml", "env.yaml", "malformed.yaml"}
        written = [path for path in self.gym.folder.rglob("*") if path.is_file() and path.name not in inputs]
        assert len(written) > 10
        assert [path for path in written if MARK.encode() in path.read_bytes()] == []


@pytest.fixture
def host() -> Iterator[str]:
    with leaky_endpoint() as address:
        yield address


@pytest.fixture
def watched(gym: Gym, caplog: pytest.LogCaptureFixture) -> Watched:
    caplog.set_level(logging.DEBUG)
    gym.put("my.yaml", CONFIG)
    return Watched(gym, caplog)


def url(host: str, folder: str) -> str:
    return f"http://me:{PASSWORD}@{host}/{folder}/v1?api-token={QUERY}"


def started_by_hand() -> set[str]:
    return {"env start", "env test"}


def test_no_key_is_said_or_written_by_any_command_or_failure(watched: Watched, host: str):
    here = ("--config", "my.yaml")
    fine, refused, dead = (f"+my_url='{url(*at)}'" for at in ((host, "ok"), (host, "no"), (f"127.0.0.1:{free_port()}", "x")))
    run = ("eval", "run", *here, "--limit", "2", "--output")

    # Where all is well.
    watched(0, "eval", "prepare", *here, fine)
    watched(0, *run, "ok.jsonl", fine)
    watched(0, *run, "other.jsonl", fine, "--model", "careless")
    again = ("eval", "reverify", *here, "--inputs", "ok_materialized_inputs.jsonl", "--rollouts", "ok.jsonl", "--output")
    watched(0, *again, "again.jsonl", fine)
    watched(0, "eval", "aggregate", *here, fine, "--input-glob", "ok.jsonl", "--output", "all.jsonl")
    watched(0, "eval", "compare", *here, fine, "ok.jsonl", "other.jsonl", "--output", "compared.json", "--report", "both.html")
    watched(0, "eval", "show", *here, fine, "ok.jsonl")
    watched(0, "eval", "show", *here, fine, "ok.jsonl", "--list")
    # 2 where the tool's package is not installed.
    watched((0, 2), "eval", "export", *here, fine, "ok.jsonl", "--to", "inspect", "--output", "ok_log.json")
    watched((0, 2), "eval", "export", *here, fine, "ok.jsonl", "--to", "mlflow", "--output", "tracking")
    watched(0, "eval", "report", *here, fine, "ok.jsonl", "--output", "page.html")
    for form in ((), ("--json",)):
        resolved = watched(0, "env", "resolve", *here, fine, *form)
        assert "****" in resolved
        watched(0, "env", "validate", *here, fine, *form)
        watched(1, "env", "status", *form)
        watched(0, "list", "models", *form)
        watched(0, "search", "judge", *form)
    watched(0, "tool", "vera_mh", "pack", "rows", str(PACK_FOLDER), "--output", "rows.jsonl")
    watched(0, "dataset", "collate", *here, fine, "--mode", "example_validation", "--output-dir", "collated")

    # Where the judge's endpoint repeats the key, or is not there.
    watched(1, *run, "no.jsonl", refused)
    assert {row["_ng_failure_class"] for row in read_jsonl(watched.gym.folder / "no_failures.jsonl")} == {"judge_failed"}
    watched(1, *again, "no_again.jsonl", refused)
    watched(2, *run, "dead.jsonl", dead)
    watched(2, *again, "dead_again.jsonl", dead)

    # Where the endpoint of the chatbot does, with keys from flags, and from the file that is made for them.
    watched.gym.put("env.yaml", f"policy_api_key: {KEY}\npolicy_base_url: {url(host, 'no')}\n")
    model: tuple[str, ...] = (
        "eval",
        "run",
        "--config",
        str(DEMO / "config.yaml"),
        "--model-type",
        "inference_provider",
        "--model",
        "m",
        "--limit",
        "1",
    )
    model += ("~policy_model.responses_api_models.scripted_model", "--output")
    watched(1, *model, "model.jsonl")
    watched(1, *model, "flags.jsonl", "--model-api-key", KEY, "--model-url", url(host, "no"))
    watched(2, *model, "dead2.jsonl", "--model-url", url(f"127.0.0.1:{free_port()}", "x"))

    assert watched.used == all_commands() - started_by_hand()
    watched.assert_nothing_is_written()


@pytest.mark.parametrize(
    "wrong",
    [
        f"my_judge: {{responses_api_models: {{inference_provider: {{api_key: [{KEY}]}}}}}}",
        f"my_judge: {{responses_api_models: {{inference_provider: {{api_keey: {KEY}}}}}}}",
        f"my_judge: {{responses_api_models: {{inference_provider: {{default_headers: {HEADER}}}}}}}",
        f"my_judge: {{responses_api_models: {{inference_provider: {{default_headers: {{x: [{HEADER}]}}}}}}}}",
        f"my_judge: {{responses_api_models: {{inference_provider: {{base_url: 'ftp://me:{PASSWORD}@host/v1?key={QUERY}'}}}}}}",
        f"my_judge: {{responses_api_models: {{inference_provider: {{base_url: ['http://me:{PASSWORD}@host/v1']}}}}}}",
        f'my_judge: {{responses_api_models: {{inference_provider: {{api_key: "{KEY}\\n"}}}}}}',
        f"my_judge: {{responses_api_models: {{inference_provider: {{api_key: {KEY}é}}}}}}",
        f"policy_api_key: {KEY}\nmy_judge: {{responses_api_models: {{inference_provider: {{api_key: '${{policy_api_kee}}'}}}}}}",
    ],
)
def test_a_configuration_that_is_wrong_is_told_without_its_keys(watched: Watched, wrong: str):
    watched.gym.put("bad.yaml", wrong)
    both = ("--config", "my.yaml", "--config", "bad.yaml", "+my_url=http://127.0.0.1:1/v1")
    watched(2, "eval", "run", "--output", "x.jsonl", *both)
    for form in ((), ("--json",)):
        watched((0, 2), "env", "validate", *form, *both)  # Some of it shows only when the server starts.


@pytest.mark.parametrize(
    "text", [f"api_key: [{KEY}", f"api_key: {KEY}\n  x: 1", f"{KEY}: {KEY}\n{KEY}: 2", f"a: *{KEY}", f"- {KEY}"]
)
def test_a_file_that_is_malformed_is_told_without_its_lines(watched: Watched, text: str):
    watched.gym.put("malformed.yaml", text)
    for verb in ("validate", "resolve"):
        watched(2, "env", verb, "--config", "malformed.yaml")


@pytest.mark.parametrize("word", [f"api_key={KEY}", f"+api_key=[{KEY}", f"api_key.{KEY}", f"--api-key={KEY}", f"~api_key={KEY}"])
def test_an_override_that_is_wrong_is_told_without_its_value(watched: Watched, word: str):
    watched(2, "env", "resolve", "--config", "my.yaml", "+my_url=http://127.0.0.1:1/v1", word)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_servers_on_ports_show_no_key_in_their_arguments_pages_or_lines(gym: Gym, host: str):
    gym.put("my.yaml", CONFIG)
    gym.put("env.yaml", f"my_url: {url(host, 'no')}\npolicy_api_key: {KEY}\n")
    with env_start("--config", "my.yaml", cwd=gym.folder) as started:
        servers = started.ready().servers()
        pids = [started.process.pid, *(server["pid"] for server in servers.values())]
        assert [pid for pid in pids if MARK in command_line_of(pid)] == []
        assert KEY in environment_of(servers["my_judge"]["pid"])  # It has to know it from somewhere.
        pages = [get(started.url + path) for path in ("/", "/servers", "/config", "/openapi.json")]
        pages += [get(server["url"] + path) for server in servers.values() for path in ("/", "/livez", "/openapi.json")]
        row = next(iter(demo_rows().values()))
        for name, path, body in (
            ("vera_mh_demo_agent", "/run", row),
            ("my_judge", "/v1/chat/completions", {"messages": [{"role": "user", "content": "x"}]}),
            ("my_judge", "/v1/responses", {"input": 3}),
            ("my_judge", "/preflight", None),
            ("vera_mh_demo", "/verify", {}),
        ):
            pages.append(posted(servers[name]["url"] + path, body))
        assert "judge_failed" in str(pages)
        assert MARK not in json.dumps(pages)
    assert MARK not in started.out.text + started.err.text
    kept = [path for path in gym.folder.rglob("*") if path.is_file() and path.name not in ("my.yaml", "env.yaml")]
    assert [path for path in kept if MARK.encode() in path.read_bytes()] == []
    assert not any(MARK in value for value in os.environ.values())


def posted(to: str, body: object) -> str:
    """What a server answers, be it an error."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(to, content, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return f"{answer.headers}{answer.read().decode()}"
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.headers}{error.read().decode()}"
