# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which file a command may write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from gym_host.atomic import real
from gym_host.errors import OutputError
from gym_host.runs.links import refuse_link
from gym_host.runs.run_files import RunFiles

_ANOTHER = "name another file, or add --overwrite"


def refuse_existing(paths: Iterable[Path], *, overwrite: bool, flag: str = "--output", mend: str = _ANOTHER) -> None:
    """Refuses files that are there, unless they may be replaced.

    Args:
        paths: The files that would be written.
        overwrite: Whether those that are there may be replaced.
        flag: The flag that names them.
        mend: What to do about it.

    Raises:
        OutputError: One of them is there.
    """
    taken = None if overwrite else next((path for path in paths if path.exists()), None)
    if taken is not None:
        raise OutputError(f"{taken} is already there", where=flag, mend=mend)


def refuse_output(
    output: Path | None,
    *,
    endings: Sequence[str],
    what: str,
    overwrite: bool,
    flag: str = "--output",
    reads: Iterable[Path] = (),
    page: bool = False,
) -> None:
    """Refuses a name that no such file can have, or that is taken.

    Args:
        output: The file; None if none is wanted.
        endings: How its name may end; the first is recommended.
        what: What it is, as in `a page`.
        overwrite: Whether a file that is there may be replaced.
        flag: The flag that names it.
        reads: What the command reads: rollouts, and no file of their runs is replaced in any case; or other files.
        page: Whether it is the page of the run that is read, which may take the place of an earlier one.

    Raises:
        OutputError: It is no such name, a file that is read or of a run that is read, a link to a file of any run or to
            itself, or a file of that name is there.
    """
    if output is None:
        return
    if output.suffix not in endings or output.is_dir():
        raise OutputError(f"{output} is no name for {what}", where=flag, mend=f"end it in {endings[0]}")
    for run in map(RunFiles, reads):
        if real(output) == real(run.rollouts):
            raise OutputError(f"{output} is one of the files that are read", where=flag, mend="name another file")
        if real(output) in {real(path) for path in (run.all if page else (*run.all, run.report))}:
            taken = f"{output} is a file of the run {run.rollouts}, which is read"
            raise OutputError(taken, where=flag, mend="name another file")
    refuse_link(output, flag=flag)
    refuse_existing([output], overwrite=overwrite, flag=flag)
