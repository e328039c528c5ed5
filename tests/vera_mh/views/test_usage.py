# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the model calls of a run took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vera_mh.models import Json
from vera_mh.views.usage import Price, Usage, amount, short, usage_of, usage_of_run

RESPONSES = {"input_tokens": 100, "output_tokens": 10, "input_tokens_details": {"cached_tokens": 40}}
CHAT = {"prompt_tokens": 200, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 150}}
ROLLOUTS = Path(__file__).parents[3] / "resources_servers/vera_mh/data/example_rollouts.jsonl"


def turn(speaker: str, usage: Any, server: str = "") -> Json:
    return {"speaker": speaker, "server": server or f"{speaker}_server", "usage": usage}


def row(turns: list[Json], receipts: list[Json] | None = None, *, sha: str = "a", **more: Any) -> Json:
    simulation = {"turn_records": turns, "transcript_sha256": sha, "duration_ms": 1.5}
    judged = {} if receipts is None else {"judge_receipts": receipts}
    return {"id": "Ana__sim", "_ng_rollout_index": 0, "simulation": simulation, **judged, **more}


SCORED = row(
    [turn("persona", RESPONSES), turn("provider", RESPONSES), turn("persona", RESPONSES), turn("provider", None)],
    [{"usage": CHAT}, {"usage": CHAT}, {"usage": CHAT, "speculative": True}],
)


def by_role(usage: Usage) -> dict[str, tuple[Any, ...]]:
    return {
        entry.role: (entry.calls, entry.calls_without_usage, entry.input_tokens, entry.cached_tokens, entry.output_tokens)
        for entry in usage.by_role()
    }


def test_tokens_are_added_up_for_each_role_in_either_dialect():
    assert by_role(usage_of([SCORED])) == {
        "persona": (2, 0, 200, 80, 20),
        "provider": (2, 1, 100, 40, 10),
        "judge": (2, 0, 400, 300, 40),
        "speculative": (1, 0, 200, 150, 20),
    }


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"input_tokens": None, "output_tokens": None}, {"input_tokens": 5}, {"completion_tokens": 5}, "many", 7],
)
def test_a_call_that_does_not_tell_both_sides_of_its_usage_is_unknown_and_not_zero(usage: Any):
    found = usage_of([row([turn("provider", usage), turn("provider", RESPONSES)])])
    assert by_role(found) == {"provider": (2, 1, 100, 40, 10)}
    assert found.is_floor
    assert found.headline() == "at least 110 tokens"
    assert found.summary()["notes"][0] == "1 of 2 calls told no usage: what they took is not known and in no sum."


def test_where_no_call_told_its_usage_the_table_has_dashes():
    table = usage_of([row([turn("provider", None)])]).summary()["tables"][0]
    assert table["rows"] == [["Chatbot", "provider_server", "1", "1", "-", "-", "-"]]


def test_cached_tokens_that_nobody_tells_of_are_unknown():
    plain = {"input_tokens": 100, "output_tokens": 10, "input_tokens_details": {"cached_tokens": None}}
    found = usage_of([row([turn("provider", plain), turn("persona", RESPONSES | {"input_tokens_details": None})])])
    assert [entry.cached_tokens for entry in found.by_role()] == [None, None]
    assert not found.is_floor


def test_cached_tokens_are_never_more_than_the_input_that_they_are_a_part_of():
    odd = {"input_tokens": 100, "output_tokens": 0, "input_tokens_details": {"cached_tokens": 900}}
    found = usage_of([row([turn("provider", odd)])], prices={"provider_server": Price(2, 1, 1)})
    assert found.money == pytest.approx(100 / 1e6)


def test_each_model_server_of_a_role_has_its_own_line():
    found = usage_of([row([turn("persona", RESPONSES, "b"), turn("persona", RESPONSES, "a")])])
    assert [(entry.role, entry.server, entry.calls) for entry in found.by_role()] == [("persona", "a", 1), ("persona", "b", 1)]


# Money


def test_money_is_reckoned_from_fresh_input_cached_input_and_output():
    prices = {"judge_server": Price(input=2.0, cached_input=0.5, output=10.0)}
    found = usage_of([row([], [{"usage": CHAT}])], prices=prices, judge_server="judge_server")
    assert found.money == pytest.approx((50 * 2.0 + 150 * 0.5 + 20 * 10.0) / 1e6)
    assert found.headline() == "cost 0.0004"


def test_cached_input_without_a_price_of_its_own_costs_as_much_as_other_input():
    found = usage_of([row([], [{"usage": CHAT}])], prices={"j": Price(input=2.0, output=10.0)}, judge_server="j")
    assert found.money == pytest.approx((200 * 2.0 + 20 * 10.0) / 1e6)


def test_without_prices_there_is_no_money_and_no_column_for_it():
    found = usage_of([SCORED])
    assert found.money is None
    assert "Money" not in found.summary()["tables"][0]["columns"]


def test_a_price_of_some_servers_only_gives_a_floor_and_says_whose_is_missing():
    found = usage_of([SCORED], prices={"persona_server": Price(1_000_000, 0)})
    assert found.headline() == "cost at least 200.00"
    assert "No price is set for provider_server, the judge: their calls are not in the money." in found.summary()["notes"]
    rows = found.summary()["tables"][0]["rows"]
    assert [cells[-1] for cells in rows] == ["200.00", "-", "-", "-", "200.00"]


def test_a_price_of_nothing_is_a_price():
    assert usage_of([row([turn("provider", RESPONSES)])], prices={"provider_server": Price(0, 0)}).headline() == "cost 0.00"


@pytest.mark.parametrize(("money", "text"), [(0, "0.00"), (0.01234, "0.0123"), (1, "1.00"), (12345.678, "12,345.68")])
def test_money_is_written_with_more_digits_where_it_is_little(money: float, text: str):
    assert amount(money) == text


@pytest.mark.parametrize(("count", "text"), [(999, "999"), (1500, "1.5k"), (2_340_000, "2.3M"), (7_000_000_000, "7.0B")])
def test_many_tokens_are_written_in_few_signs(count: int, text: str):
    assert short(count) == text


# Failed attempts


def test_a_failed_judging_counts_with_the_calls_that_were_answered():
    failed = row([turn("provider", RESPONSES)], _ng_failure_class="judge_failed", failure_details={"receipts": [{"usage": CHAT}]})
    assert by_role(usage_of([failed])) == {"provider": (1, 0, 100, 40, 10), "judge": (1, 0, 200, 150, 20)}


def test_a_conversation_that_was_judged_again_is_counted_once_and_each_judging_for_itself():
    failed = row([turn("provider", RESPONSES)], _ng_failure_class="judge_failed", failure_details={"receipts": [{"usage": CHAT}]})
    scored = row([turn("provider", RESPONSES)], [{"usage": CHAT}])
    for rows in ([failed, failed, scored], [scored, failed, failed]):
        assert by_role(usage_of(rows)) == {"provider": (1, 0, 100, 40, 10), "judge": (3, 0, 600, 450, 60)}


def test_two_conversations_with_the_same_words_are_two():
    scored = row([turn("provider", RESPONSES)])
    assert by_role(usage_of([scored, scored | {"_ng_rollout_index": 1}]))["provider"][0] == 2


@pytest.mark.parametrize("odd", [["x", 0], {"name": "x"}, 7, None])
def test_a_conversation_is_known_again_whatever_stands_for_its_id(odd: Any):
    scored = row([turn("provider", RESPONSES)], id=odd, transcript_sha256=odd) | {"_ng_rollout_index": odd}
    assert by_role(usage_of([scored, scored, scored | {"id": "other"}]))["provider"][0] == 2


@pytest.mark.parametrize("odd", [float("inf"), float("nan"), 1e300, 10**30])
def test_what_is_no_number_of_tokens_is_unknown_and_in_no_sum(odd: float):
    found = usage_of([row([turn("provider", {"input_tokens": odd, "output_tokens": 1}), turn("provider", RESPONSES)])])
    assert by_role(found)["provider"] == (2, 1, 100, 40, 10)


def test_a_failure_that_tells_nothing_of_its_calls_is_counted_as_such():
    failed = {"id": "Ana__sim", "_ng_failure_class": "vera_mh_simulation_failed", "error": "gone"}
    found = usage_of([SCORED, failed])
    assert found.failures_untold == 1
    assert "1 failed attempt tells nothing of its calls, which are in no sum." in found.summary()["notes"]


# Runs


def test_a_row_of_another_shape_is_passed_over():
    found = usage_of(
        [{"simulation": {"turn_records": "many"}, "judge_receipts": [None, 7]}, {"simulation": 5, "failure_details": 3}]
    )
    assert found.by_role() == []


def test_rows_that_tell_of_no_call_have_no_table():
    found = usage_of([{"id": "imported", "ratings": {}}])
    assert (found.headline(), found.summary(), found.to_json()) == (None, {"tables": [], "notes": []}, [])


def test_the_table_ends_with_the_sum_of_all_roles():
    table = usage_of([SCORED]).summary()["tables"][0]
    assert table["columns"] == ["Role", "Model server", "Calls", "Without usage", "Input tokens", "Cached", "Output tokens"]
    assert table["rows"][2] == ["Judge", "-", "2", "0", "400", "300", "40"]
    assert table["rows"][-1] == ["All", "-", "7", "1", "900", "570", "90"]


def test_prices_and_the_judge_are_those_of_the_run():
    settings = {"judge_model_server": {"type": "responses_api_models", "name": "the_judge"}}
    record = {
        "identity": {"servers": {"verifier": {"settings": settings}, "agent": {"settings": {}}}},
        "prices": {"the_judge": {"input": 1.0, "output": 2.0}},
    }
    usage = usage_of_run(record)
    assert (usage.judge_server, usage.prices, usage.simulated) == ("the_judge", {"the_judge": Price(1.0, 2.0)}, True)
    merged = usage_of_run({"shards": [{"identity": record["identity"]}]})
    assert (merged.judge_server, merged.prices) == ("the_judge", {})
    assert usage_of_run({}) == Usage()


def test_what_an_earlier_run_simulated_is_not_counted_again_where_it_is_only_judged():
    usage = usage_of_run({"identity": {"reverifies": "0123", "servers": {}}})
    usage.add(SCORED)
    assert list(by_role(usage)) == ["judge", "speculative"]
    assert usage.summary()["notes"][-1].startswith("The conversations were not made by this run")


def test_the_example_rollouts_tell_of_every_call_that_they_count():
    rows = [json.loads(line) for line in ROLLOUTS.read_bytes().splitlines()]
    found = {entry.role: entry.calls for entry in usage_of(rows).by_role()}
    assert found["judge"] == sum(row["judge_calls"] for row in rows)
    assert found["persona"] + found["provider"] == sum(row["turn_count"] for row in rows)


def test_the_entries_as_json_leave_unknown_things_null():
    (entry,) = usage_of([row([], [{"usage": CHAT | {"prompt_tokens_details": None}}])]).to_json()
    assert (entry["server"], entry["cached_tokens"], entry["money"]) == (None, None, None)
