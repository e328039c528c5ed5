# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is found to be wrong with a pack, in a shape that a person and a program can use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ERROR = "error"
WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that may be meant otherwise than it is read.

    Attributes:
        severity: `error`: the pack does not measure what it says; `warning`: it does, and something about it should be known.
        file: Name of the file in the pack.
        row: Row of a sheet as a spreadsheet program shows it: the header is row 1, and blank rows count. None for what has none.
        what: What was found, in a sentence.
        mend: What to do about it.
    """

    severity: str
    file: str
    row: int | None
    what: str
    mend: str

    @property
    def is_error(self) -> bool:
        return self.severity == ERROR

    @property
    def place(self) -> str:
        return self.file if self.row is None else f"{self.file}, row {self.row}"


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file and row, in the order in which they were found within a row."""
    return sorted(findings, key=lambda finding: (finding.file, finding.row or 0))
