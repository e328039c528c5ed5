# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m gym_host.serving.child app.py`: runs a program as `python app.py` does, and ends when whoever started it has ended.

The other end of standard input is held by that process and by no other, so that even if it is killed, the system closes it, and
this process notices. It works for any program, from its first line on.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
from pathlib import Path

_STDIN = 0


def main() -> None:
    """Runs the program that the first argument names."""
    threading.Thread(target=_end_with_parent, name="end-with-parent", daemon=True).start()
    del sys.argv[0]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(sys.argv[0]).resolve().parent)
    runpy.run_path(sys.argv[0], run_name="__main__")


def _end_with_parent() -> None:
    while os.read(_STDIN, 1024):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
