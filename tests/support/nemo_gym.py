# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own `gym` command, run in this checkout, with nothing of it left behind: no process, no file outside its folders."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.support.components import KEY_VARIABLES
from tests.support.servers import free_port

PROJECT = Path(__file__).parents[2]
FOLDER_VARIABLE = "VERA_MH_INTEROP"
"""Environment variable that names the folder where `tests.interop.run` has installed NeMo Gym."""

MARK = "VERA_MH_INTEROP_RUN"
"""Environment variable of every process that the command starts."""

_THEIR_SERVERS = ("environment_servers/legacy_agent", "responses_api_models/vllm_model")
_ENDING_SECONDS = 20.0


@dataclass(frozen=True)
class Finished:
    """A command that has ended."""

    status: int
    printed: str


class NemoGym:
    """The command.

    NVIDIA's host gives each server an environment of its own, made by uv from the `requirements.txt` of its folder. Ours are made
    that way, once, and kept; those of NVIDIA's servers are the one in which NVIDIA's host itself is installed.

    Args:
        folder: The environment in which it is installed.
        scratch: A folder for what it writes besides its output: home, logs, the files of Ray. Its path must be short, since Ray
            puts sockets in it.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._folder, self._scratch = folder, scratch
        self.servers = folder / f"servers-{_requirements_digest()}"
        for outdated in set(folder.glob("servers-*")) - {self.servers}:
            shutil.rmtree(outdated)
        for server in _THEIR_SERVERS:
            environment = self.servers / server / ".venv"
            environment.parent.mkdir(parents=True, exist_ok=True)
            if not environment.is_symlink():
                environment.symlink_to(folder)

    @property
    def quiet(self) -> str:
        """The word that keeps Hydra from writing a folder `outputs` into the working directory."""
        return f"hydra.run.dir={self._scratch / 'hydra'}"

    def __call__(
        self,
        *words: str | Path,
        environ: Mapping[str, str] | None = None,
        folder: Path = PROJECT,
        seconds: float = 300.0,
        tidy: bool = True,
    ) -> Finished:
        """Runs it to its end.

        Args:
            words: What it is given.
            environ: Environment variables, beside those of the machine that are no keys.
            folder: The working directory.
            seconds: How long it may take.
            tidy: Whether it ends all that it starts; if not, that is done here.

        Raises:
            AssertionError: It did not end in time, or left processes behind. They are ended.
        """
        mark = uuid4().hex
        command = [str(self._folder / "bin/gym"), *map(str, words)]
        log = self._scratch / f"{mark}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=self._environ() | {MARK: mark} | dict(environ or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                process.wait(timeout=seconds)
                left = _wait_for_end(mark) if tidy else {}
            except subprocess.TimeoutExpired:
                left = {process.pid: "the command itself"}
            finally:
                _end(mark)
                process.wait()
        printed = log.read_text(errors="replace")
        assert not left, f"still running: {left}\n{printed[-4000:]}"
        return Finished(process.returncode, printed)

    def evaluate(self, *words: str | Path, output: Path, environ: Mapping[str, str] | None = None, tidy: bool = True) -> str:
        """`gym eval run` or another command that starts the servers; what it printed.

        Raises:
            AssertionError: It failed.
        """
        kept = ["+skip_venv_if_present=true", f"+uv_venv_dir={self.servers}", f"+uv_cache_dir={self._folder / 'uv-cache'}"]
        kept.append(f"+head_server.port={free_port()}")
        finished = self(*words, "--output", output, self.quiet, *kept, environ=environ, tidy=tidy)
        assert finished.status == 0, finished.printed[-8000:]
        return finished.printed

    def _environ(self) -> dict[str, str]:
        python = (self._folder / "bin/python").resolve()
        kept = {name: text for name, text in os.environ.items() if name not in KEY_VARIABLES and not name.startswith("VERA_MH_")}
        return kept | {
            "HOME": str(self._scratch),
            # uv is found there, and uv finds there the Python that it makes environments with.
            "PATH": os.pathsep.join([str(self._folder / "bin"), str(python.parent), os.environ["PATH"]]),
            "UV_PYTHON_DOWNLOADS": "never",
            "RAY_TMPDIR": str(self._scratch),
            "RAY_USAGE_STATS_ENABLED": "0",
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "true",
        }


def _requirements_digest() -> str:
    """What the environments of our servers are made from."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    requirements = [file.read_text() for file in sorted(PROJECT.glob("*/*/requirements.txt"))]
    return hashlib.sha256(repr((project["dependencies"], requirements)).encode()).hexdigest()[:12]


def _wait_for_end(mark: str) -> dict[int, str]:
    """Processes that are still there when the command and all that it started have had time to end."""
    deadline = time.monotonic() + _ENDING_SECONDS
    while left := _marked(mark):
        if time.monotonic() > deadline:
            return left
        time.sleep(0.1)
    return {}


def _end(mark: str) -> None:
    for pid in _marked(mark):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _marked(mark: str) -> dict[int, str]:
    """Processes whose environment bears a mark, with their command lines. Only Linux tells."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found
