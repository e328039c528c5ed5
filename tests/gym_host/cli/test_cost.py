# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the command says a run costs."""

from __future__ import annotations

import json
from typing import Any

from tests.support.command import Gym
from tests.support.components import SumsRoot, read_jsonl

RUN = ("eval", "run", "--benchmark", "vera_mh_demo", "--limit", "2", "--output", "x.jsonl")
ROLES = ("User simulator", "Chatbot", "Judge")
JUDGE, USER, POLICY = "vera_mh_demo_judge", "vera_mh_demo_user", "policy_model"


def price(server: str, text: str = "{input: 2, cached_input: 1, output: 10}") -> str:
    return f"++{server}.responses_api_models.scripted_model.price_per_million={text}"


def record_of(gym: Gym, name: str = "x_run.json") -> dict[str, Any]:
    record: dict[str, Any] = json.loads((gym.folder / name).read_bytes())
    return record


def calls(record: dict[str, Any]) -> dict[str, int]:
    return {entry["role"]: entry["calls"] for entry in record["usage"]}


def test_a_run_ends_with_a_table_of_tokens_by_role_and_without_prices_no_money(gym: Gym):
    out = gym(*RUN).out
    assert "Money" not in out
    lines = out[out.index("\nCost\n") :].splitlines()
    assert lines[2].split() == [
        "Role",
        "Model",
        "server",
        "Calls",
        "Without",
        "usage",
        "Input",
        "tokens",
        "Cached",
        "Output",
        "tokens",
    ]
    assert [line.startswith(role) for line, role in zip(lines[3:], ROLES, strict=False)] == [True] * 3
    rows = read_jsonl(gym.folder / "x.jsonl")
    assert calls(record_of(gym))["judge"] == sum(row["judge_calls"] for row in rows)
    assert "prices" not in record_of(gym)


def test_prices_in_the_configuration_give_money_and_are_kept_in_the_record_but_not_in_what_the_run_is(gym: Gym):
    out = gym(*RUN, price(JUDGE), price(USER), price(POLICY, "{input: 0, output: 0}")).out
    assert "Money" in out
    assert "No price is set" not in out
    record = record_of(gym)
    assert record["prices"][JUDGE] == {"input": 2.0, "cached_input": 1.0, "output": 10.0}
    assert "price_per_million" not in json.dumps(record["identity"])
    judge = next(entry for entry in record["usage"] if entry["role"] == "judge")
    assert judge["money"] == round((2 * judge["input_tokens"] + 10 * judge["output_tokens"]) / 1e6, 6)


def test_a_run_goes_on_with_other_prices_and_counts_what_was_used_before(gym: Gym):
    gym(*RUN, price(JUDGE))
    before = record_of(gym)
    again = gym(*RUN, "--resume", price(JUDGE, "{input: 4, output: 20}"))
    assert again.code == 0, again.err
    after = record_of(gym)
    assert after["prices"][JUDGE] == {"input": 4.0, "output": 20.0}
    assert calls(after) == calls(before)
    assert next(entry for entry in after["usage"] if entry["role"] == "judge")["money"] > before["usage"][-1]["money"] * 1.9


def test_a_reverification_costs_what_its_judge_took(gym: Gym):
    gym(*RUN)
    source = ("--inputs", "x_materialized_inputs.jsonl", "--rollouts", "x.jsonl")
    out = gym("eval", "reverify", "--benchmark", "vera_mh_demo", *source, "--output", "y.jsonl", price(JUDGE)).out
    assert "The conversations were not made by this run: what they took is not counted here" in out
    assert list(calls(record_of(gym, "y_run.json"))) == ["judge"]


def test_a_price_that_is_none_is_refused_before_anything_runs(gym: Gym):
    said = gym.refuses(*RUN, price(JUDGE, "{input: 2}"))
    assert "price_per_million.output" in said


def test_a_benchmark_without_a_meter_runs_as_ever_and_tells_no_cost(gym: Gym, sums: SumsRoot):
    said = gym("eval", "run", "--benchmark", "sums", "--search-dir", sums.path, "--output", "s.jsonl")
    assert said.code == 0
    assert "Cost" not in said.out
    assert "usage" not in record_of(gym, "s_run.json")
