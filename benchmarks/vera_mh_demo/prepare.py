# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the rows of the demo from its own pack."""

from __future__ import annotations

from pathlib import Path

from gym_host.atomic import write_whole
from gym_host.config.datasets import rows_beside
from vera_mh.pack import load_manifest, read_pack
from vera_mh.tasks import UserSimulator, benchmark_rows, row_line

FOLDER = Path(__file__).parent
OUTPUT = rows_beside(Path(__file__), "vera_mh_demo.jsonl")
MAX_TURNS = 12


def prepare(output: Path = OUTPUT) -> Path:
    """Writes the rows.

    Args:
        output: Where they go.

    Returns:
        The file.

    Raises:
        PackError: The pack is not the one of its manifest.
    """
    pack = read_pack(load_manifest(FOLDER / "pack"), FOLDER / "pack")
    simulators = (UserSimulator("scripted", "scripted"),)
    rows = benchmark_rows(pack, prefix="vera_mh_demo", simulators=simulators, max_turns=MAX_TURNS)
    write_whole(output, (row_line(row).encode() for row in rows))
    return output


if __name__ == "__main__":
    print(prepare())
