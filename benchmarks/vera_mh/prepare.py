# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Obtains and verifies the pack of VERA-MH, and writes the 200 rows."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

from gym_host.atomic import write_whole
from gym_host.config.datasets import rows_beside
from vera_mh.errors import PackError
from vera_mh.fetch import fetch_pack, missing_files
from vera_mh.pack import PREPARE_COMMAND, VERA_MH, read_pack, vera_mh_folder
from vera_mh.tasks import ROWS_SHA256, benchmark_rows, row_line

OUTPUT = rows_beside(Path(__file__), "vera_mh_recommended.jsonl")


def prepare(output: Path = OUTPUT) -> Path:
    """Fetches what is missing of the pack, verifies all of it, and writes the rows.

    Args:
        output: Where they go.

    Returns:
        The file.

    Raises:
        PackError: A file cannot be fetched or is not the pinned one, or the rows are not the pinned rows.
    """
    folder = vera_mh_folder(os.environ)
    missing = missing_files(VERA_MH, folder)
    if missing:
        print(f"fetching {len(missing)} files of {VERA_MH.repository} at {VERA_MH.revision[:7]} into {folder}")
        asyncio.run(fetch_pack(VERA_MH, folder, write=lambda path, content: write_whole(path, [content]), report=print))
    pack = read_pack(VERA_MH, folder)
    content = "".join(map(row_line, benchmark_rows(pack, prefix="vera_mh"))).encode()
    found = hashlib.sha256(content).hexdigest()
    if found != ROWS_SHA256:
        raise PackError(f"the rows are not the pinned rows, so {output} was not written.\n  SHA-256 found    {found}")
    write_whole(output, [content])
    return output


def check(path: Path) -> None:
    """Holds a rows file against the pinned rows.

    Raises:
        PackError: It is another.
    """
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != ROWS_SHA256:
        raise PackError(
            f"{path} does not hold the pinned rows.\n  SHA-256 found    {found}\n  SHA-256 expected {ROWS_SHA256}\n"
            f"  to mend it: run `{PREPARE_COMMAND}`, or give rows of your own with --input"
        )


if __name__ == "__main__":
    print(prepare())
