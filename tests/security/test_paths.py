# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""No path that stands in a row or a request is ever opened, imported or made."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gym_host.errors import ServerError
from gym_host.serving.calls import InMemoryCalls
from tests.support.command import Gym
from tests.support.components import write_jsonl
from tests.support.demo import demo_rows, demo_servers

WORD = "bait-of-this-test"
TOUCHING = {"open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename", "os.symlink", "import", "subprocess.Popen"}

_touched: list[str] | None = None


def _note(event: str, args: tuple[Any, ...]) -> None:
    if _touched is not None and event in TOUCHING and WORD in str(args):
        _touched.append(f"{event}{args}")


sys.addaudithook(_note)  # It stays for good, and looks at nothing outside of `watching`.


@contextmanager
def watching() -> Iterator[list[str]]:
    """What is done to any path that holds the word."""
    global _touched
    _touched = []
    try:
        yield _touched
    finally:
        _touched = None


def test_the_watch_sees_a_path_that_is_opened(tmp_path: Path):
    with watching() as touched:
        (tmp_path / WORD).write_text("x")
        os.listdir(tmp_path)
    assert len(touched) == 1


def baited(row: dict[str, Any], bait: str) -> dict[str, Any]:
    """A row in which everything that a program might take for a path is one."""
    return row | {
        **{key: bait for key in ("id", "task_source", "persona_name", "jsonl_fpath", "script", "pack", "prompt_config", "file")},
        "agent_ref": {"name": row["agent_ref"]["name"], "path": bait},
        "user_simulator": row["user_simulator"],
        "upstream": {"license": bait, "rubric_path": bait},
        "responses_create_params": {
            "input": [{"role": "system", "content": [{"type": "input_text", "text": bait, "file_url": f"file://{bait}"}]}],
            "metadata": {"path": bait},
        },
        "persona_system_prompt": f"{row['persona_system_prompt']}\n@{bait}\n${{oc.env:HOME}}",
    }


def baits(folder: Path) -> list[str]:
    target = folder / WORD
    target.write_text("{}")
    return [
        str(target),
        f"file://{target}",
        f"../../{WORD}",
        f"~/{WORD}",
        f"${{oc.env:{WORD}}}",
        f"!!python/object/apply:os.system ['{WORD}']",
    ]


async def test_a_row_whose_every_word_is_a_path_opens_none_in_any_server(tmp_path: Path):
    servers = demo_servers(judge_parse_retries=0)
    for bait in baits(tmp_path):
        row = baited(demo_rows()["Mara"], bait)
        with watching() as touched:
            played = await servers.call("agent", "/run", row)
            await servers.call("verifier", "/verify", played)
            for server, path, body in requests(bait, played):
                await asked(servers, server, path, body)
        assert touched == []


def requests(bait: str, row: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [
        ("agent", "/v1/responses", {"input": bait, "model": bait, "instructions": f"file://{bait}"}),
        ("judge", "/v1/chat/completions", {"messages": [{"role": "user", "content": bait}], "model": bait}),
        ("verifier", "/aggregate_metrics", {"verify_responses": [row]}),
        ("verifier", "/compare", {"base": [row], "other": [row]}),
        ("verifier", "/summary", {"agent_metrics": {bait: 1}}),
        ("verifier", f"/{bait}", {}),
        ("verifier", "/../../etc/passwd", {}),
    ]


async def asked(servers: InMemoryCalls, server: str, path: str, body: Any) -> None:
    try:
        await servers.call(server, path, body)
    except ServerError as error:
        if error.status not in (404, 422):
            raise


@pytest.mark.parametrize("ending", ["", ".jsonl"])
def test_a_run_over_such_rows_writes_its_own_files_and_touches_no_other(gym: Gym, tmp_path: Path, ending: str):
    bait = str(tmp_path / f"{WORD}{ending}")
    rows = gym.folder / "rows.jsonl"
    agent = {"agent_ref": {"name": "vera_mh_demo_agent"}}
    two = [baited(row | agent, bait) for row in list(demo_rows().values())[:2]]
    write_jsonl(rows, [two[0], two[1] | {"id": f"/{bait}"}])  # The same file by another name, since no id may stand twice.
    with watching() as touched:
        said = gym("eval", "run", "--benchmark", "vera_mh_demo", "--input", rows, "--output", "x.jsonl")
        again = ("--inputs", "x_materialized_inputs.jsonl", "--rollouts", "x.jsonl", "--output", "y.jsonl")
        reverified = gym("eval", "reverify", "--benchmark", "vera_mh_demo", *again)
    assert (said.code, reverified.code) == (0, 0), (said, reverified)
    assert touched == []
    assert not Path(bait).exists()
