# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym env start` as its users run it, and what it leaves behind on the machine."""

from __future__ import annotations

import json
import os
import queue
import random
import socket
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from tests.support.components import gym_process, wait_until

Json = dict[str, Any]
SECONDS = 30.0


class Started:
    """A running `gym env start`.

    Args:
        words: What follows `gym env start`.
        cwd: Its working directory.
        cache: The user's cache folder, in which the note of its head lies.
        head_port: The port of its head.
    """

    def __init__(
        self, *words: str | Path, cwd: Path, cache: Path, head_port: int, environ: Mapping[str, str] | None = None
    ) -> None:
        self.url = f"http://127.0.0.1:{head_port}"
        self.environ = {"XDG_CACHE_HOME": str(cache), **(environ or {})}
        self.process = gym_process("env", "start", "--head-port", str(head_port), *words, cwd=cwd, environ=self.environ)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out, self.err = _Lines(self.process.stdout), _Lines(self.process.stderr)

    def ready(self) -> Started:
        """Waits until it says that all servers are ready."""
        self.out.until("stop them")
        return self

    def servers(self) -> dict[str, Json]:
        """What the head lists, by name."""
        return {server["name"]: server for server in get(f"{self.url}/servers")["servers"]}

    def traces(self) -> Traces:
        """The processes and ports that must be gone when it has stopped."""
        servers = self.servers().values()
        ports = [int(server["url"].rpartition(":")[2]) for server in servers] + [int(self.url.rpartition(":")[2])]
        return Traces([server["pid"] for server in servers], ports)

    def ended(self) -> int:
        """Its exit code."""
        code = self.process.wait(timeout=SECONDS)
        self.out.close()
        self.err.close()
        return code


class Traces:
    """Processes and ports."""

    def __init__(self, pids: list[int], ports: list[int]) -> None:
        self.pids, self.ports = pids, ports

    def assert_there(self) -> None:
        assert all(map(_lives, self.pids))
        assert all(map(_in_use, self.ports))

    def assert_gone(self) -> None:
        wait_until(lambda: not any(map(_lives, self.pids)), seconds=5)
        wait_until(lambda: not any(map(_in_use, self.ports)), seconds=5)


@contextmanager
def env_start(*words: str | Path, cwd: Path, environ: Mapping[str, str] | None = None) -> Iterator[Started]:
    """`gym env start`, which is killed at the end if it still runs."""
    started = Started(*words, cwd=cwd, cache=cwd / "cache", head_port=free_port(), environ=environ)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.kill()
        started.ended()


class _Lines:
    """What a process prints, read as it comes."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._queue: queue.Queue[str | None] = queue.Queue()
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def text(self) -> str:
        """Everything so far."""
        while not self._queue.empty():
            self._take()
        return "".join(self.lines)

    def until(self, part: str) -> str:
        """Waits for a line in which this stands."""
        while not any(part in line for line in self.lines):
            assert self._take(), f"it ended without {part!r}:\n{self.text}"
        return next(line for line in self.lines if part in line)

    def close(self) -> None:
        self._reader.join(SECONDS)
        self._stream.close()

    def _take(self) -> bool:
        line = self._queue.get(timeout=SECONDS)
        if line is not None:
            self.lines.append(line)
        return line is not None

    def _read(self) -> None:
        for line in self._stream:
            self._queue.put(line)
        self._queue.put(None)


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=SECONDS) as response:
        return json.loads(response.read())


def post(url: str, body: Any) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        return json.loads(response.read())


def free_port() -> int:
    """A port at which nobody listens, below those that systems give to outgoing connections: none of these takes it meanwhile."""
    while True:
        port = random.SystemRandom().randrange(12_000, 20_000)
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            return port


def environment_of(pid: int) -> str:
    """The environment of a process."""
    return Path(f"/proc/{pid}/environ").read_text(errors="replace")


def command_line_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A child of a killed parent may wait for a process that collects it, which a container need not have.
    with suppress(OSError):
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    return not Path("/proc/self").exists()


def _in_use(port: int) -> bool:
    with socket.socket() as prober:
        prober.settimeout(1)
        return prober.connect_ex(("127.0.0.1", port)) == 0
