# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the model calls of a run took: tokens, and money where prices are known, by role and model server.

A call whose answer told no usage is counted as such and never as nothing: the sums are then a floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from vera_mh.models import Json, Row
from vera_mh.stored_row import mappings
from vera_mh.usage import is_count
from vera_mh.views.summary import Table

ROLES = {
    "persona": "User simulator",
    "provider": "Chatbot",
    "judge": "Judge",
    "speculative": "Judge, asked ahead in vain",
}
"""Role -> how a table names it, in the order of the table."""

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of a model server cost, in any currency; cached input costs as much as other input unless given."""

    input: float
    output: float
    cached_input: float | None = None


@dataclass(slots=True)
class RoleUsage:
    """What the calls of one role to one model server took.

    Attributes:
        role: One of `ROLES`.
        server: Name of the model server; empty where nothing says which it was.
        calls: Calls that were answered.
        calls_without_usage: Those of them that told no usage, or only a part of it. Their tokens are in no sum.
        input_tokens: Input, cached input included.
        cached_tokens: The cached part of the input; None if no call said anything about it.
        output_tokens: Output, reasoning included.
    """

    role: str
    server: str
    calls: int = 0
    calls_without_usage: int = 0
    input_tokens: int = 0
    cached_tokens: int | None = None
    output_tokens: int = 0

    def add(self, usage: Any) -> None:
        """Counts one call, by its usage as Responses or chat completions have it."""
        self.calls += 1
        usage = usage if isinstance(usage, Mapping) else {}
        taken, given = _count(usage, "input_tokens", "prompt_tokens"), _count(usage, "output_tokens", "completion_tokens")
        if taken is None or given is None:
            self.calls_without_usage += 1
            return
        self.input_tokens += taken
        self.output_tokens += given
        details = usage.get("input_tokens_details") or usage.get("prompt_tokens_details")
        cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else None
        if cached is not None:
            self.cached_tokens = (self.cached_tokens or 0) + min(cached, taken)

    def money(self, price: Price | None) -> float | None:
        """What the known tokens cost; None where no price is set."""
        if price is None:
            return None
        cached = self.cached_tokens or 0
        cached_price = price.input if price.cached_input is None else price.cached_input
        fresh = self.input_tokens - cached
        return (fresh * price.input + cached * cached_price + self.output_tokens * price.output) / _MILLION


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    found = next((usage[name] for name in names if usage.get(name) is not None), None)
    return int(found) if is_count(found) else None


@dataclass(slots=True)
class Usage:
    """Adds up what rows tell of their calls, scored rows and failed attempts alike, in any order.

    A conversation that stands in several rows (a failed judging, then its verdict) is counted once.

    Attributes:
        prices: Model server -> its price.
        judge_server: The judge's model server, of which rows do not tell the name.
        simulated: False if the conversations were not made by this run, whose cost they then are not.
        failures_untold: Failed attempts that tell nothing of the calls that they made.
    """

    prices: Mapping[str, Price] = field(default_factory=dict)
    judge_server: str = ""
    simulated: bool = True
    failures_untold: int = 0
    _by_role: dict[tuple[str, str], RoleUsage] = field(default_factory=dict)
    _conversations: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Counts the calls that a row tells of."""
        simulation, failed = row.get("simulation"), row.get("failure_details")
        receipts = failed.get("receipts") if isinstance(failed, Mapping) else row.get("judge_receipts")
        if isinstance(simulation, Mapping):
            self._add_simulation(row, simulation)
        for receipt in mappings(receipts):
            role = "speculative" if receipt.get("speculative") else "judge"
            self._of(role, self.judge_server).add(receipt.get("usage"))
        if row.get("_ng_failure_class") and not isinstance(failed, Mapping):
            self.failures_untold += 1

    def _add_simulation(self, row: Row, simulation: Mapping[str, Any]) -> None:
        told = (row.get("id"), row.get("_ng_rollout_index"), simulation.get("transcript_sha256"), simulation.get("duration_ms"))
        conversation = tuple(map(str, told))
        if not self.simulated or conversation in self._conversations:
            return
        self._conversations.add(conversation)
        for record in mappings(simulation.get("turn_records")):
            self._of(str(record.get("speaker")), str(record.get("server") or "")).add(record.get("usage"))

    def _of(self, role: str, server: str) -> RoleUsage:
        return self._by_role.setdefault((role, server), RoleUsage(role, server))

    def by_role(self) -> list[RoleUsage]:
        """One entry for each role and model server, in the order of `ROLES`."""
        order = list(ROLES)
        known = [entry for entry in self._by_role.values() if entry.role in ROLES]
        return sorted(known, key=lambda entry: (order.index(entry.role), entry.server))

    def money_of(self, entry: RoleUsage) -> float | None:
        """What an entry costs; None where its server has no price."""
        return entry.money(self.prices.get(entry.server))

    @property
    def money(self) -> float | None:
        """What all entries with a price cost; None where there is none."""
        priced = [money for entry in self.by_role() if (money := self.money_of(entry)) is not None]
        return sum(priced) if priced else None

    @property
    def is_floor(self) -> bool:
        """True if there were calls of which the sums know nothing."""
        return bool(self.failures_untold) or any(entry.calls_without_usage for entry in self.by_role())

    def headline(self) -> str | None:
        """The money so far if there are prices, else the tokens; None before the first call."""
        entries = self.by_role()
        if not entries:
            return None
        floor = "at least " if self.is_floor else ""
        if self.money is not None:
            unpriced = any(self.money_of(entry) is None for entry in entries)
            return f"cost {'at least ' if unpriced else floor}{amount(self.money)}"
        return f"{floor}{short(sum(entry.input_tokens + entry.output_tokens for entry in entries))} tokens"

    def to_json(self) -> list[Json]:
        """The entries as plain JSON; `money` is null where no price is set."""
        return [
            {
                "role": entry.role,
                "server": entry.server or None,
                "calls": entry.calls,
                "calls_without_usage": entry.calls_without_usage,
                "input_tokens": entry.input_tokens,
                "cached_tokens": entry.cached_tokens,
                "output_tokens": entry.output_tokens,
                "money": _rounded(self.money_of(entry)),
            }
            for entry in self.by_role()
        ]

    def summary(self) -> Json:
        """`tables` and `notes`, as `vera_mh.views.summary` gives them; nothing where there were no calls."""
        entries = self.by_role()
        return {"tables": [self._table(entries)] if entries else [], "notes": self._notes(entries) if entries else []}

    def _table(self, entries: list[RoleUsage]) -> Table:
        priced = self.money is not None
        rows = [_cells(ROLES[entry.role], entry, self.money_of(entry), priced=priced) for entry in entries]
        if len(entries) > 1:
            rows.append(_cells("All", _sum(entries), self.money, priced=priced))
        columns = ["Role", "Model server", "Calls", "Without usage", "Input tokens", "Cached", "Output tokens"]
        return {"title": "Cost", "columns": [*columns, *(["Money"] if priced else [])], "rows": rows}

    def _notes(self, entries: list[RoleUsage]) -> list[str]:
        calls, silent = sum(entry.calls for entry in entries), sum(entry.calls_without_usage for entry in entries)
        unpriced = sorted({entry.server or "the judge" for entry in entries if self.money_of(entry) is None})
        notes = []
        if silent:
            notes.append(f"{silent} of {calls} calls told no usage: what they took is not known and in no sum.")
        if self.failures_untold:
            told = "failed attempt tells nothing of its" if self.failures_untold == 1 else "failed attempts tell nothing of their"
            notes.append(f"{self.failures_untold} {told} calls, which are in no sum.")
        if self.money is not None and unpriced:
            notes.append(f"No price is set for {', '.join(unpriced)}: their calls are not in the money.")
        if not self.simulated:
            notes.append(
                "The conversations were not made by this run: what they took is not counted here; verdicts taken over are."
            )
        return notes


def usage_of(
    rows: Iterable[Row], *, prices: Mapping[str, Price] | None = None, judge_server: str = "", simulated: bool = True
) -> Usage:
    """What the calls of rows took.

    Args:
        rows: Scored rows and failed attempts, whole; read once, so an iterator will do.
        prices: Model server -> its price.
        judge_server: The judge's model server.
        simulated: False if the conversations were not made by this run.
    """
    usage = Usage(prices or {}, judge_server, simulated)
    for row in rows:
        usage.add(row)
    return usage


def usage_of_run(record: Mapping[str, Any]) -> Usage:
    """An empty `Usage` for the rows of a run, with the prices and the judge that its record (`x_run.json`) names."""
    identity = record.get("identity")
    if not isinstance(identity, Mapping):
        identity = next((shard.get("identity") for shard in record.get("shards") or ()), None) or {}
    return Usage(_prices(record.get("prices")), _judge_server(identity), "reverifies" not in identity)


def _prices(prices: Any) -> dict[str, Price]:
    found = prices.items() if isinstance(prices, Mapping) else ()
    return {server: Price(price["input"], price["output"], price.get("cached_input")) for server, price in found}


def _judge_server(identity: Mapping[str, Any]) -> str:
    settings = [server.get("settings") or {} for server in (identity.get("servers") or {}).values()]
    named = [one["judge_model_server"].get("name") for one in settings if isinstance(one.get("judge_model_server"), Mapping)]
    return str(named[0]) if named else ""


def _sum(entries: Iterable[RoleUsage]) -> RoleUsage:
    total = RoleUsage("", "")
    for entry in entries:
        total.calls += entry.calls
        total.calls_without_usage += entry.calls_without_usage
        total.input_tokens += entry.input_tokens
        total.output_tokens += entry.output_tokens
        if entry.cached_tokens is not None:
            total.cached_tokens = (total.cached_tokens or 0) + entry.cached_tokens
    return total


def _cells(name: str, entry: RoleUsage, money: float | None, *, priced: bool) -> list[str]:
    known = entry.calls > entry.calls_without_usage
    tokens = [entry.input_tokens if known else None, entry.cached_tokens, entry.output_tokens if known else None]
    cells = [name, entry.server or "-", f"{entry.calls:,}", f"{entry.calls_without_usage:,}"]
    cells += ["-" if count is None else f"{count:,}" for count in tokens]
    return [*cells, *(["-" if money is None or not known else amount(money)] if priced else [])]


def _rounded(money: float | None) -> float | None:
    return None if money is None else round(money, 6)


def amount(money: float) -> str:
    """Money as people write it; small amounts with more digits."""
    return f"{money:,.2f}" if money >= 1 or money == 0 else f"{money:.4f}"


def short(count: int) -> str:
    """A count of tokens in few signs."""
    for size, sign in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{sign}"
    return str(count)
