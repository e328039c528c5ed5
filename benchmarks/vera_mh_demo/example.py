# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the example data of the environment: five rows of the demo's personas, their rollouts and their metrics.

The rows name a user simulator of the recommended profile and no pack, so that they run under the real configuration as well; the
rollouts here come from the demo, in which a script plays that simulator.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

from gym_host.atomic import write_whole
from vera_mh.pack import load_manifest, read_pack
from vera_mh.tasks import RECOMMENDED_SIMULATORS, benchmark_rows, row_line

FOLDER = Path(__file__).parent
DATA = FOLDER.parents[1] / "resources_servers" / "vera_mh" / "data"
ROWS = 5
MAX_TURNS = 12


def example_lines() -> list[bytes]:
    """The rows, as lines."""
    pack = read_pack(load_manifest(FOLDER / "pack"), FOLDER / "pack")
    rows = benchmark_rows(pack, prefix="vera_mh_example", simulators=RECOMMENDED_SIMULATORS[:1], max_turns=MAX_TURNS)
    return [row_line({key: value for key, value in row.items() if key != "upstream"}).encode() for row in islice(rows, ROWS)]


def main() -> None:
    """Writes rows, rollouts and metrics."""
    write_whole(DATA / "example.jsonl", example_lines())
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "example.jsonl"
        words = ["--benchmark", "vera_mh_demo", "--split", "example", "--model", "careless", "--output", str(output)]
        subprocess.run([sys.executable, "-m", "gym_host.cli.main", "eval", "run", *words], check=True)
        write_whole(DATA / "example_rollouts.jsonl", [output.read_bytes()])
        write_whole(DATA / "example_metrics.json", [output.with_name("example_aggregate_metrics.json").read_bytes()])


if __name__ == "__main__":
    main()
