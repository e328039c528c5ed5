# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Where the installed `gym` starts. Ctrl-C is looked after before all that the command needs is imported, which takes a while."""

from __future__ import annotations

import signal
import sys


def gym() -> int:
    """Runs the command of this process.

    Returns:
        Its exit code.
    """
    try:
        from gym_host.cli.main import main

        return main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
