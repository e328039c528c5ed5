# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A program that runs as `python app.py` does, and ends with the process that started it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys, beside
from pathlib import Path
print(json.dumps({"name": __name__, "file": __file__, "argv": sys.argv, "path": sys.path[0], "beside": beside.VALUE}), flush=True)
if "wait" in sys.argv:
    import time
    time.sleep(60)
sys.exit(3)
"""


def start(tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    folder = tmp_path / "component"
    folder.mkdir()
    (folder / "app.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("VALUE = 7\n")
    return subprocess.Popen(
        [sys.executable, "-m", "gym_host.serving.child", str(folder / "app.py"), *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_program_sees_what_it_would_see_under_python_itself(tmp_path: Path):
    process = start(tmp_path, "--flag")
    assert process.stdout is not None
    out = process.stdout.read()
    assert process.wait(timeout=20) == 3
    process.communicate()
    app = str(tmp_path / "component/app.py")
    assert json.loads(out) == {
        "name": "__main__",
        "file": app,
        "argv": [app, "--flag"],
        "path": str(tmp_path / "component"),
        "beside": 7,
    }


def test_a_program_ends_when_nobody_holds_the_other_end_of_its_input(tmp_path: Path):
    process = start(tmp_path, "wait")
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline()
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(timeout=10) == -signal.SIGKILL
    process.stdout.close()
