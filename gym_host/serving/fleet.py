# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Servers as child processes: start them, wait until they answer, notice one that ends, stop them all.

None outlives this process, however it ends: see `gym_host.serving.child`.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import aiohttp

from gym_host.config.masking import mask_text
from gym_host.errors import UserError
from gym_host.serving.ports import Placement, handed_over
from gym_host.serving.process import CONFIG_VARIABLE, NAME_VARIABLE

Report = Callable[[str], None]

_LINES_KEPT = 20
_LONGEST_LINE = 2000
_LONGEST_READ = 8 * _LONGEST_LINE
_POLL_SECONDS = 0.05
_ANSWER_SECONDS = 1.0
_REMIND_SECONDS = 5.0
_STOP_SECONDS = 6.0


class ServerFailed(UserError):
    """A server did not come up, or ended."""


class ServerProcess:
    """One server as a child process.

    Args:
        placed: The instance and where it listens.
        process: The process, whose standard output is a pipe.
        report: Is given every line that it prints.
        hidden: What is masked in these lines.
    """

    def __init__(
        self, placed: Placement, process: asyncio.subprocess.Process, report: Report, hidden: frozenset[str] = frozenset()
    ) -> None:
        self.placed = placed
        self.ready = False
        self.last_lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._process, self._report, self._hidden = process, report, hidden
        self._reading = asyncio.create_task(self._read())

    @property
    def name(self) -> str:
        return self.placed.name

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def state(self) -> str:
        """`starting`, `ready`, or how it ended."""
        code = self._process.returncode
        if code is None:
            return "ready" if self.ready else "starting"
        return f"stopped by signal {-code}" if code < 0 else f"ended with exit code {code}"

    @property
    def running(self) -> bool:
        return self._process.returncode is None

    async def ended(self) -> None:
        """Returns when the process has ended and its last lines are read."""
        await self._process.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(1):  # A process that it started itself may hold the pipe open.
                await asyncio.shield(self._reading)

    async def stop(self) -> None:
        """Asks it to stop, and makes it stop if it does not do so in time."""
        if self.running:
            self._signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await self._process.wait()
        if self.running:
            self._signal(signal.SIGKILL)
        await self.ended()
        self._reading.cancel()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        rest = b""
        while content := await self._process.stdout.read(2**16):
            *lines, rest = (rest + content).split(b"\n")
            for line in lines:
                self._print(line)
            rest = rest[: _LONGEST_READ + 1]  # Enough to tell that it is too long, however much of it comes.
        if rest:
            self._print(rest)

    def _print(self, line: bytes) -> None:
        text = _shown(line, self._hidden)
        self.last_lines.append(text)
        self._report(f"[{self.name}] {text}")


def _shown(line: bytes, hidden: frozenset[str]) -> str:
    """The beginning of a line, masked. It is masked as a whole and only then cut, lest half a secret stays."""
    if len(line) > _LONGEST_READ:
        return f"(a line of more than {_LONGEST_READ} bytes is left out)"
    return mask_text(line.decode("utf-8", "replace").rstrip(), hidden)[:_LONGEST_LINE]


class Fleet:
    """The servers of a configuration, started together.

    Args:
        servers: The processes.
        report: Is given a line when something has come about.
    """

    def __init__(self, servers: Sequence[ServerProcess], report: Report) -> None:
        self.servers = servers
        self.report = report

    async def become_ready(self, seconds: float) -> None:
        """Returns when every server answers.

        Raises:
            ServerFailed: One has ended, or does not answer in time; it is named with its last lines.
        """
        began = reminded = time.monotonic()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_ANSWER_SECONDS)) as session:
            while late := await self._late(session):
                await self._refuse_ended()
                now = time.monotonic()
                if now - began > seconds:
                    raise self._failure(late, f"does not answer after {seconds:g} s")
                if now - reminded > _REMIND_SECONDS:
                    reminded = now
                    self.report(f"waiting for {', '.join(server.name for server in late)} ({now - began:.0f} s)")
                await asyncio.sleep(_POLL_SECONDS)
        await self._refuse_ended()

    async def first_end(self) -> None:
        """Waits until a server ends.

        Raises:
            ServerFailed: One has ended; it is named with its last lines.
        """
        ends = [asyncio.create_task(server.ended()) for server in self.servers]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
        await self._refuse_ended()

    async def stop(self) -> None:
        """Stops all servers at once."""
        await asyncio.gather(*(server.stop() for server in self.servers))

    async def _late(self, session: aiohttp.ClientSession) -> list[ServerProcess]:
        """Asks the servers that have not answered yet; those that still do not."""
        await asyncio.gather(*(self._ask(server, session) for server in self.servers if not server.ready))
        return [server for server in self.servers if not server.ready]

    async def _ask(self, server: ServerProcess, session: aiohttp.ClientSession) -> None:
        if server.running and await _answers(session, server.placed.url):
            server.ready = True
            self.report(f"{server.name} is up at {server.placed.url}")

    async def _refuse_ended(self) -> None:
        ended = [server for server in self.servers if not server.running]
        if ended:
            await asyncio.gather(*(server.ended() for server in ended))
            raise self._failure(ended)

    def _failure(self, servers: Sequence[ServerProcess], how: str | None = None) -> ServerFailed:
        texts = []
        for server in servers:
            said = [f"    {line}" for line in server.last_lines] or ["    (it printed nothing)"]
            texts.append("\n".join([f"the server `{server.name}` {how or server.state}; its last lines:", *said]))
        return ServerFailed("\n".join(texts))


async def _answers(session: aiohttp.ClientSession, url: str) -> bool:
    try:
        async with session.get(f"{url}/livez") as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


@asynccontextmanager
async def started(
    values: Mapping[str, object],
    placements: Iterable[Placement],
    *,
    environ: Mapping[str, str],
    report: Report,
    secrets: Iterable[str] = (),
) -> AsyncIterator[Fleet]:
    """Starts every server; all of them are stopped when the context is left.

    Args:
        values: The resolved configuration.
        placements: The instances and where they listen.
        environ: The environment that they start from.
        report: Is given a line when something has come about, and every line that a server prints.
        secrets: What is masked in these lines.

    Raises:
        UserError: A process cannot be started.
    """
    placements = list(placements)
    hidden = frozenset(secrets)
    config = handed_over(values, placements)
    servers: list[ServerProcess] = []
    fleet = Fleet(servers, report)
    try:
        for placed in placements:
            process = await _start(placed, {**environ, CONFIG_VARIABLE: config, NAME_VARIABLE: placed.name})
            servers.append(ServerProcess(placed, process, report, hidden))
        yield fleet
    finally:
        await fleet.stop()


async def _start(placed: Placement, environ: Mapping[str, str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gym_host.serving.child",
            str(placed.instance.app),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=environ,
            process_group=0,  # Ctrl-C in a terminal is for the parent, which stops its children in order.
        )
    except OSError as error:
        raise ServerFailed(f"the server `{placed.name}` cannot be started: {error.strerror or error}") from None
