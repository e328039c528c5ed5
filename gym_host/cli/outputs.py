# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which file a command may write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gym_host.errors import OutputError


def refuse_output(output: Path | None, *, endings: Sequence[str], what: str, overwrite: bool, flag: str = "--output") -> None:
    """Refuses a name that no such file can have, or that is taken.

    Args:
        output: The file; None if none is wanted.
        endings: How its name may end; the first is recommended.
        what: What it is, as in `a page`.
        overwrite: Whether a file that is there may be replaced.
        flag: The flag that names it.

    Raises:
        OutputError: It is no such name, or a file of that name is there.
    """
    if output is None:
        return
    if output.suffix not in endings or output.is_dir():
        raise OutputError(f"{output} is no name for {what}", where=flag, mend=f"end it in {endings[0]}")
    if output.exists() and not overwrite:
        raise OutputError(f"{output} is already there", where=flag, mend="name another file, or add --overwrite")
