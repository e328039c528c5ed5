# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Collating the data of a configuration: checked, stamped with who runs it, and one file for each split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from pathlib import Path

import orjson

from gym_host.atomic import real, write_whole
from gym_host.config.datasets import Dataset
from gym_host.errors import OutputError, UserError
from gym_host.jsonl import Json, read_lines
from gym_host.runs.links import refuse_link
from gym_host.runs.outputs import refuse_existing


class Mode(Enum):
    """What is collated, as NeMo Gym names it."""

    EXAMPLE_VALIDATION = "example_validation"
    TRAIN_PREPARATION = "train_preparation"

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that take part."""
        return ("example",) if self is Mode.EXAMPLE_VALIDATION else ("train", "validation", "benchmark")


@dataclass(frozen=True, slots=True)
class Collated:
    """One file that was written.

    Attributes:
        split: Its split.
        path: The file.
        rows: Rows in it.
        unique_ids: Different `id` values among them; None if rows have no `id`.
    """

    split: str
    path: Path
    rows: int
    unique_ids: int | None


def collate(datasets: Iterable[Dataset], mode: Mode, output_dir: Path, *, overwrite: bool = False) -> list[Collated]:
    """Checks and collates datasets.

    Args:
        datasets: The datasets of the configuration.
        mode: Which splits.
        output_dir: Where `<split>.jsonl` is written.
        overwrite: Replace files that are there, unless they are the datasets themselves.

    Raises:
        UserError: There is nothing to collate, a row is malformed, two rows of a split have the same `id`, or a file is there.
    """
    chosen = sorted((d for d in datasets if d.split in mode.splits), key=lambda dataset: mode.splits.index(dataset.split))
    if not chosen:
        raise UserError(f"no dataset has one of the splits {', '.join(mode.splits)}", where=f"--mode {mode.value}")
    for path in (output_dir / f"{split}.jsonl" for split in dict.fromkeys(dataset.split for dataset in chosen)):
        if real(path) in {real(dataset.path) for dataset in chosen}:
            raise OutputError(f"{path} is one of the files that are read", where="--output-dir", mend="name another folder")
        refuse_link(path, flag="--output-dir")
        refuse_existing([path], overwrite=overwrite, flag="--output-dir", mend="name another folder, or add --overwrite")
    return [
        _written(split, list(of_split), output_dir / f"{split}.jsonl")
        for split, of_split in groupby(chosen, key=lambda dataset: dataset.split)
    ]


def _written(split: str, datasets: Sequence[Dataset], path: Path) -> Collated:
    rows = [row for dataset in datasets for row in _rows(dataset)]
    ids = [row["id"] for row in rows if "id" in row]
    doubled = next((id_ for id_ in ids if ids.count(id_) > 1), None) if len(set(ids)) < len(ids) else None
    if doubled is not None:
        raise UserError(f"the id {doubled!r} stands twice in the split `{split}`", mend="repair the dataset")
    write_whole(path, (orjson.dumps(row) + b"\n" for row in rows))
    return Collated(split, path, len(rows), len(set(ids)) if ids else None)


def _rows(dataset: Dataset) -> Iterator[Json]:
    path = dataset.path if dataset.path.exists() else dataset.prepare()
    for line in read_lines(path):
        if not isinstance(line.value.get("responses_create_params"), dict):
            raise UserError("a row lacks `responses_create_params`", where=f"{path}, line {line.number}", mend="repair the row")
        yield {**line.value, "agent_ref": {"name": dataset.agent}, "task_source": dataset.agent}
