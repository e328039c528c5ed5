# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Links among the files that a command writes.

What is written to a link goes into the file behind it, since a link may lead to another disk. It may also lead to a file of
another run, whose record, failures and metrics would then tell of rollouts that are gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from gym_host.atomic import real
from gym_host.errors import OutputError
from gym_host.runs.run_files import RunFiles


def files_to_write(output: Path) -> RunFiles:
    """The files of the run that goes to an `--output`, new or to be gone on with.

    Raises:
        OutputError: It is no name for rollouts, or a file of the run is a link to a file of another run, or to itself.
    """
    files = RunFiles.of(output)
    for path in (*files.all, files.report):
        refuse_link(path, among=files.all)
    return files


def refuse_link(path: Path, *, flag: str = "--output", among: Iterable[Path] = ()) -> None:
    """Refuses a link that leads to a file of another run, or to itself.

    Args:
        path: What would be written.
        flag: The flag that names it.
        among: The files of the run that it is one of. Some of them may be links to one folder, and then lie there side by side.

    Raises:
        OutputError: It is such a link.
    """
    if not path.is_symlink():
        return
    target = real(path)
    if target.is_symlink():
        raise OutputError(f"{path} is a link that leads back to itself", where=flag, mend="remove it, or name another file")
    own = {real(one) for one in among}
    run = next((run for run in _named_by(target) if _is_another(run, target, own)), None)
    if run is not None:
        named = f"name {run.rollouts} if that run is meant, else another file" if own else "name another file"
        raise OutputError(f"{path} is a link to {target}, which is a file of another run", where=flag, mend=named)


def _named_by(path: Path) -> Iterator[RunFiles]:
    """The runs that could have a file of this name."""
    if path.suffix == ".jsonl":
        yield RunFiles(path)
    for file in RunFiles(Path("x.jsonl")).all[1:]:
        ending = file.name.removeprefix("x")
        if path.name.endswith(ending):
            yield RunFiles(path.with_name(f"{path.name.removesuffix(ending)}.jsonl"))


def _is_another(run: RunFiles, target: Path, own: set[Path]) -> bool:
    """Whether other files of a run lie beside one; its record says that it is a run of its own, whatever else leads there."""
    others = (path for path in run.existing() if path != target)
    return any(path == run.run or real(path) not in own for path in others)
