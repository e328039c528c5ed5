# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A meter to which every row costs 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class CountingMeter:
    """Remembers the rows that it was given."""

    record: Json = field(default_factory=dict)
    rows: list[Json] = field(default_factory=list)

    def add(self, row: Json) -> None:
        self.rows.append(row)

    def headline(self) -> str | None:
        return f"cost {len(self.rows)}" if self.rows else None

    def summary(self) -> Json:
        return {"tables": [{"title": "Cost", "columns": ["Rows"], "rows": [[str(len(self.rows))]]}], "notes": []}

    def to_json(self) -> list[Json]:
        return [{"rows": len(self.rows)}]
