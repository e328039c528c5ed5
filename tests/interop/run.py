# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`make interop`: sees to it that the published NeMo Gym is installed in an environment of its own, then runs the tests on it.

    $ python -m tests.interop.run .venv-interop

A finished environment is used again. Where no Python that NeMo Gym runs on is found, nothing is run, it says so, and that is no
failure.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.support.nemo_gym import FOLDER_VARIABLE

PROJECT = Path(__file__).parents[2]
PACKAGES = ("nemo-gym==0.7.0", "uv")
VERSIONS = ("3.13", "3.12", "3.14")
FINISHED = "finished.txt"
"""Written at the end, with what is installed."""


def main() -> int:
    folder = (PROJECT / sys.argv[1]).absolute()
    if _installed(folder):
        _say(f"using {PACKAGES[0]} in {folder}, which is there from an earlier run")
    else:
        python = find_python()
        if python is None:
            _say(f"NOT RUN: {PACKAGES[0]} needs a Python of {' or '.join(VERSIONS)}, and this machine has none.")
            _say("Name one with INTEROP_PYTHON=/path/to/python. Nothing was tested under NVIDIA NeMo Gym.")
            return 0
        status = install(python, folder)
        if status:
            return status
    _say("running our checkout under NVIDIA's host, run by run; this takes some minutes")
    command = [sys.executable, "-m", "pytest", "-m", "interop", "--durations=0", "--durations-min=5", "tests/interop"]
    return subprocess.run(command, cwd=PROJECT, env={**os.environ, FOLDER_VARIABLE: str(folder)}, check=False).returncode


def find_python() -> str | None:
    """A Python that NeMo Gym runs on; its metadata asks for the newest patch release, which it does not need."""
    return next((python for python in _candidates() if _version_of(python) in VERSIONS), None)


def _candidates() -> Iterator[str]:
    if named := os.environ.get("INTEROP_PYTHON"):
        yield named
        return
    yield sys.executable
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    for version in VERSIONS:
        # The programs of pyenv's `shims` are on the path, but run only where pyenv was told to.
        yield from filter(None, [shutil.which(f"python{version}")])
        yield from sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"), reverse=True)


def _version_of(python: str) -> str:
    asked = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def install(python: str, folder: Path) -> int:
    """Makes the environment anew; the exit code of what failed, or 0."""
    _say(f"installing {' and '.join(PACKAGES)} with {python} in {folder}: some minutes and about 1.5 GB, once")
    shutil.rmtree(folder, ignore_errors=True)
    started = time.monotonic()
    commands = [
        [python, "-m", "venv", str(folder)],
        [str(folder / "bin/python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-compile"]
        + ["--ignore-requires-python", *PACKAGES],
    ]
    for command in commands:
        status = subprocess.run(command, cwd=PROJECT, check=False).returncode
        if status:
            _say(f"NOT RUN: it could not be installed ({' '.join(command)})")
            return status
    (folder / FINISHED).write_text(_wanted())
    _say(f"installed in {time.monotonic() - started:.0f} s")
    return 0


def _installed(folder: Path) -> bool:
    finished = folder / FINISHED
    return finished.exists() and finished.read_text() == _wanted()


def _wanted() -> str:
    return "".join(f"{package}\n" for package in PACKAGES)


def _say(line: str) -> None:
    sys.stdout.write(f"interop: {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
