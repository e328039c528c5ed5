# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is shown of the lines that a server prints."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from gym_host.config.configuration import Instance
from gym_host.serving.fleet import ServerProcess
from gym_host.serving.ports import Placement

SECRET = "correct-horse-0123456789abcdef"
PLACED = Placement(Instance("judge", "responses_api_models", "any", {}, Path("app.py")), "127.0.0.1", 1)


async def shown(program: str) -> list[str]:
    """What is reported of a process that runs a program."""
    lines: list[str] = []
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    server = ServerProcess(PLACED, process, lines.append, frozenset({SECRET}))
    await server.ended()
    assert [f"[judge] {line}" for line in server.last_lines] == lines
    return lines


async def test_each_line_is_shown_with_the_name_of_its_server_the_last_one_also_without_its_end():
    assert await shown("print('one'); print(); print('two', end='')") == ["[judge] one", "[judge] ", "[judge] two"]


@pytest.mark.parametrize("before", range(1960, 2010, 7))
async def test_a_secret_is_masked_wherever_a_long_line_is_cut(before: int):
    (line,) = await shown(f"print('x' * {before} + ' {SECRET} the end')")
    assert len(line) <= len("[judge] ") + 2000
    assert "correct" not in line
    assert line.startswith("[judge] xxx")


async def test_a_secret_is_masked_in_a_line_that_comes_in_parts():
    half = len(SECRET) // 2
    program = f"""
import sys, time
for part in ("x" * 3000 + "{SECRET[:half]}", "{SECRET[half:]} the end"):
    sys.stdout.write(part)
    sys.stdout.flush()
    time.sleep(0.2)
"""
    assert await shown(program) == ["[judge] " + "x" * 2000]
    assert await shown(program.replace('"x" * 3000', '"begin "')) == ["[judge] begin **** the end"]


async def test_a_line_that_is_far_too_long_is_left_out_and_the_next_one_is_shown():
    program = f"print('x' * 300_000 + '{SECRET}' + 'x' * 300_000); print('next')"
    assert await shown(program) == ["[judge] (a line of more than 16000 bytes is left out)", "[judge] next"]
