# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A meter to which every row costs 1, and one that fails."""

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


@dataclass(slots=True)
class BrokenMeter(CountingMeter):
    """Fails in one of its methods."""

    broken: str = "add"

    def add(self, row: Json) -> None:
        self._break("add")
        CountingMeter.add(self, row)

    def headline(self) -> str | None:
        self._break("headline")
        return CountingMeter.headline(self)

    def summary(self) -> Json:
        self._break("summary")
        return CountingMeter.summary(self)

    def to_json(self) -> list[Json]:
        self._break("to_json")
        return CountingMeter.to_json(self)

    def _break(self, method: str) -> None:
        if self.broken == method:
            raise TypeError("an odd row")
