# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The `gym` command in many short lives: each a process of its own, forked from one that has everything imported.

A life starts in a fraction of the time that an interpreter takes, runs the command's own `main`, and can be killed for real.

    with Lives({"BENCH_URL": ...}) as lives:
        end = lives.live(["eval", "run", ...], kill_after=0.05, begun=folder / ".x.jsonl.lock")
        assert end.code == -signal.SIGKILL or end.code == 0

As a program it reads one life a line from its input, and writes one end a line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.chain import CONFIG, PROJECT
from gym_host.cli.main import main
from tests.support.components import KEY_VARIABLES

_LONGEST = 60.0
_BEGINS_WITHIN = 20.0


@dataclass(frozen=True)
class End:
    """How a life ended: its exit code, or minus the signal that ended it, and what it said."""

    code: int
    said: str


class Lives:
    """Starts lives one after another.

    Args:
        environ: What all of them have in their environment beside what this process has.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.lives"],
            cwd=PROJECT,
            env={name: text for name, text in os.environ.items() if name not in KEY_VARIABLES} | dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        # What this imports, no life has to.
        self._ask({"words": ["env", "validate", "--config", str(CONFIG)], "within": True})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.communicate(timeout=_LONGEST)

    def live(
        self,
        words: Sequence[str],
        *,
        environ: Mapping[str, str] | None = None,
        kill_after: float | None = None,
        begun: Path | None = None,
    ) -> End:
        """Runs the command.

        Args:
            words: Its words.
            environ: What this life has in its environment beside what all have.
            kill_after: Seconds after which it is killed, if it still lives.
            begun: The seconds count from when this file is there; by default from the start.
        """
        asked = {"words": list(words), "environ": dict(environ or {}), "kill_after": kill_after, "within": False}
        return End(**self._ask(asked | {"begun": str(begun) if begun else None}))

    def _ask(self, life: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(life)}\n")
        self._process.stdin.flush()
        end: dict[str, Any] = json.loads(self._process.stdout.readline())
        return end


def _serve() -> None:
    ends = os.fdopen(os.dup(1), "w", buffering=1)
    said = os.memfd_create("said")
    os.dup2(said, 1)
    os.dup2(said, 2)
    # Blocked, so that it can be waited for.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    for line in sys.stdin:
        life = json.loads(line)
        os.ftruncate(said, 0)
        os.lseek(said, 0, os.SEEK_SET)
        code = main(life["words"]) if life["within"] else _live(life)
        sys.stdout.flush()
        os.lseek(said, 0, os.SEEK_SET)
        text = os.read(said, 1 << 20).decode(errors="replace")
        ends.write(f"{json.dumps(asdict(End(code, text)))}\n")


def _live(life: Mapping[str, Any]) -> int:
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.environ.update(life["environ"])
        code = 99
        try:
            code = main(life["words"])
            sys.stdout.flush()
        finally:
            os._exit(code)
    if life["kill_after"] is not None:
        if life["begun"]:
            _await_file(Path(life["begun"]), child)
        # The signal comes early if it ends by itself.
        signal.sigtimedwait({signal.SIGCHLD}, life["kill_after"])
        os.kill(child, signal.SIGKILL)  # It is not collected yet, so the number is still its own.
    _, status = os.waitpid(child, 0)
    while signal.sigtimedwait({signal.SIGCHLD}, 0) is not None:
        pass
    return os.waitstatus_to_exitcode(status)


def _await_file(path: Path, child: int) -> None:
    end = time.monotonic() + _BEGINS_WITHIN
    while not path.exists() and time.monotonic() < end:
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.001)


if __name__ == "__main__":
    _serve()
