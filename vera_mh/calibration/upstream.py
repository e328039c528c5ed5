# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Upstream as it lies on the user's disk: a checkout, and a Python that has the packages it needs. Nothing is written into it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from vera_mh.errors import UpstreamError
from vera_mh.models import Json
from vera_mh.pack import REQUIRED_FILES, Manifest

DRIVER = Path(__file__).with_name("driver.py")
UNKNOWN = "unknown"
EXPECTED = ("judge", "generate_conversations", "llm_clients", "data/rubric.tsv")

CHECKOUT = "the checkout"
INTERPRETER = "the interpreter"
ENDPOINT = "the judge's endpoint"
"""What may be at fault: the `where` of an `UpstreamError`."""

_TAIL = 5
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_SHORTEST_SECRET = 6  # A shorter one is a placeholder, and to mask it would tear the text apart.
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class JudgeEndpoint:
    """The judge model that upstream's `judge.py` asks.

    Attributes:
        url: Base URL of an OpenAI-compatible endpoint.
        key: Its API key; it goes by the environment, never by the command line, and into no text.
        model: The judge model, as upstream names it.
        extra: `judge.py`'s extra parameters, `name=value,...`, or "".
        concurrency: Conversations at once.
    """

    url: str
    key: str = field(repr=False)
    model: str
    extra: str
    concurrency: int


@dataclass(frozen=True, slots=True)
class Upstream:
    """A checkout of upstream and the Python to run it with.

    Attributes:
        folder: The checkout.
        python: The interpreter.
        commit: Its commit, or `unknown` where it is no git checkout.
        changed: Files that differ from that commit.
    """

    folder: Path
    python: Path
    commit: str
    changed: Sequence[str]

    @classmethod
    def at(cls, folder: Path, python: str) -> Upstream:
        """Looks at a checkout.

        Raises:
            UpstreamError: The folder is no checkout of upstream, or the interpreter cannot be run.
        """
        folder = folder.expanduser().absolute()
        missing = [name for name in EXPECTED if not (folder / name).exists()]
        if missing:
            what = f"it has no {', '.join(missing)}" if folder.is_dir() else "there is no such folder"
            raise UpstreamError(
                f"{folder} is no checkout of VERA-MH: {what}",
                where=CHECKOUT,
                mend="git clone the repository of upstream, and name its folder",
            )
        return cls(folder, _interpreter(python), *_commit(folder))

    def other_files(self, manifest: Manifest) -> list[str]:
        """Files of the pack that are others in the checkout, or are not there."""
        other = []
        for name in REQUIRED_FILES:
            path = self.folder / "data" / name
            if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != manifest.sha256[name]:
                other.append(f"data/{name}")
        return other

    @contextmanager
    def driven(self, control: str, scratch: Path) -> Iterator[Callable[[Json], Json]]:
        """Upstream's process for a control; yields what asks it.

        Args:
            control: Name of the control.
            scratch: A folder for what upstream writes.

        Raises:
            UpstreamError: The process cannot start, lacks something, or ends before it is told to.
        """
        scratch.mkdir(parents=True, exist_ok=True)
        log = scratch / "stderr.txt"
        with log.open("wb") as errors:
            command: list[str | Path] = [self.python, DRIVER, control, scratch]
            process = _start(command, self, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=_environment())
        try:
            ready = _line(process, log, self)
            if "fatal" in ready:
                raise UpstreamError(
                    f"upstream cannot be imported: {_masked(ready['fatal'], _environment())}",
                    where=f"{self.python} in {self.folder}",
                    mend="install what the checkout's pyproject.toml names into that environment",
                )
            yield lambda request: _asked(process, log, self, request)
            assert process.stdin is not None
            process.stdin.close()
            process.wait()
        finally:
            _end(process)

    def judge(
        self,
        folder: Path,
        output: Path,
        endpoint: JudgeEndpoint,
        *,
        progress: Callable[[int], None],
    ) -> None:
        """Lets upstream's `judge.py` judge a folder of transcripts.

        Args:
            folder: The transcripts.
            output: Where its sheets go, in a folder of their own.
            endpoint: The judge model.
            progress: Is told how many sheets there are.

        Raises:
            UpstreamError: It fails as a whole.
        """
        command: list[str | Path] = [self.python, "judge.py", "-f", folder, "-j", endpoint.model, "-o", output]
        command += ["-m", str(endpoint.concurrency), *(["-jep", endpoint.extra] if endpoint.extra else [])]
        environment = _environment(
            {"OPENAI_API_KEY": endpoint.key, "OPENAI_BASE_URL": endpoint.url, "OPENAI_API_BASE": endpoint.url}
        )
        log = folder.with_name("judge.txt")
        with log.open("wb") as errors:
            process = _start(command, self, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=environment)
        try:
            while process.poll() is None:
                progress(len(list(output.rglob("*.tsv"))))
                time.sleep(_POLL_SECONDS)
        finally:
            _end(process)
        if process.returncode != 0 or not list(output.rglob("*.tsv")):
            raise UpstreamError(
                f"upstream's judge.py judged nothing:\n{_tail(log, environment)}",
                where=ENDPOINT,
                mend="check what is said of the judge's endpoint and model",
            )


def _interpreter(python: str) -> Path:
    path = Path(python).expanduser()
    # Not resolved: a virtual environment is known by the path of its own link.
    path = path.absolute() if os.sep in python else path
    try:
        subprocess.run([path, "-c", ""], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise UpstreamError(
            f"{python} cannot be run: {error}", where=INTERPRETER, mend="name the Python of upstream's virtual environment"
        ) from None
    return path


def _commit(folder: Path) -> tuple[str, list[str]]:
    """Commit of a checkout, and the files that differ from it. A copy inside some other repository has none."""
    if not (folder / ".git").exists():
        return UNKNOWN, []
    try:
        commit = _git(folder, "rev-parse", "HEAD").strip()
        return commit, [line[3:] for line in _git(folder, "status", "--porcelain", "--untracked-files=no").splitlines()]
    except (OSError, subprocess.SubprocessError):
        return UNKNOWN, []


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True, timeout=60).stdout


def _environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, with which upstream leaves no bytecode in its checkout and opens no window."""
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "MPLBACKEND": "Agg", **(more or {})}


def _start(command: Sequence[str | Path], upstream: Upstream, **more: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, cwd=upstream.folder, **more)
    except OSError as error:
        raise UpstreamError(f"{command[0]} cannot be run: {error.strerror}", where=INTERPRETER) from None


def _asked(process: subprocess.Popen[bytes], log: Path, upstream: Upstream, request: Json) -> Json:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # why it ended is found out below
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
    return _line(process, log, upstream)


def _line(process: subprocess.Popen[bytes], log: Path, upstream: Upstream) -> Json:
    assert process.stdout is not None
    stream: IO[bytes] = process.stdout
    try:
        return dict(json.loads(stream.readline()))
    except ValueError:
        raise UpstreamError(
            f"upstream's process ended, or said what is no answer:\n{_tail(log, _environment())}",
            where=f"{upstream.python} in {upstream.folder}",
            mend="run that Python in that folder, and import upstream's `judge` there",
        ) from None


def _tail(path: Path, environment: Mapping[str, str]) -> str:
    lines = _masked(path.read_text("utf-8", "replace"), environment).splitlines()
    return "\n".join(f"  {line}" for line in lines[-_TAIL:]) or "  (it said nothing)"


def _masked(text: str, environment: Mapping[str, str]) -> str:
    """What a process said, without the keys that its environment told it."""
    keys = {value for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET}
    for key in sorted(keys, key=len, reverse=True):
        text = text.replace(key, "****")
    return text


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
