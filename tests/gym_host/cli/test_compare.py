# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval compare`: what it prints, writes and refuses. Its numbers are tested in `tests.vera_mh.analysis.test_comparison`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Gym, Said
from tests.support.components import SumsRoot, read_jsonl, sum_row, write_jsonl
from tests.support.ratings import scored_row
from vera_mh.analysis.comparison import compare as compared
from vera_mh.views.comparison_tables import shown_comparison
from vera_mh.views.summary import CAVEAT

Json = dict[str, Any]

DEMO = ("--benchmark", "vera_mh_demo")
MEASURE = {"pack_sha256": "0123", "rubric_version": "demo-1", "judge_model": "demo-judge"}


def rollouts(name: str, letters: Iterable[str], *, planned: int | None = None, **more: Any) -> Path:
    """A run whose personas `P0`, `P1`, ... are rated so; with `planned`, it was to have so many rollouts."""
    path = Path(f"{name}.jsonl")
    rows = [
        scored_row(each, persona=f"P{n}", **MEASURE) | {"_ng_task_index": n, "_ng_rollout_index": 0} | more
        for n, each in enumerate(letters)
    ]
    write_jsonl(path, rows)
    if planned is not None:
        path.with_name(f"{name}_run.json").write_text(json.dumps({"counts": {"planned": planned}}))
    return path


def compare(*words: str | Path) -> tuple[str | Path, ...]:
    return ("eval", "compare", *DEMO, *words)


def done(said: Said) -> Said:
    assert said.code == 0, said
    return said


def test_two_runs_are_compared_with_the_number_of_pairs_an_interval_and_no_promise(gym: Gym):
    base, other = rollouts("base", ["BBB", "BSN", "SSS"]), rollouts("other", ["BBB", "BBB", "BSS", "HHH"])
    said = done(gym(*compare(base, other)))
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[:2] == ["base: base.jsonl", "other: other.jsonl"]
    assert "Base Other Other - base 95% interval Pairs Rated in both" in lines
    score = next(line for line in lines if line.startswith("VERA-MH score"))
    assert score.startswith("VERA-MH score (0 to 100) 75.00 88.89 +13.89 ")
    assert score.endswith(" 3 3")
    assert (
        "3 pairs: conversations (persona, user simulator, repeat) that both runs have scored, of 3 in base and 4 in other."
        in lines
    )
    assert said.out.count(CAVEAT) == 1
    assert said.out.count("certification") == 1
    assert said.err == ""


def test_personas_of_one_name_that_were_not_the_same_are_told(gym: Gym):
    base = rollouts("base", ["BBB", "BSN"], persona_system_prompt="You are P.")
    other = rollouts("other", ["BBB", "BBB"], persona_system_prompt="You are Bob.")
    told = "Pairs whose personas had other instructions in one run than in the other: 2 of 2 (the first: P0)."
    assert told in done(gym(*compare(base, other))).out
    assert "other instructions" not in done(gym(*compare(base, base))).out
    assert "other instructions" not in done(gym(*compare(base, rollouts("untold", ["BBB", "BBB"])))).out


def test_a_run_compared_with_itself_shows_no_difference(gym: Gym):
    base = rollouts("base", ["BBB", "BSN", "HSS"])
    said = done(gym(*compare(base, base)))
    assert "0.00 to 0.00" in said.out
    assert "+" not in said.out
    assert "Conversations whose own score changed" not in said.out


def test_several_runs_are_each_compared_with_the_base_and_the_caveat_stands_once(gym: Gym):
    base = rollouts("base", ["BBB", "BSN"])
    others = [rollouts("one", ["SSS", "SSS"]), rollouts("two", ["BBB", "BBB"])]
    said = done(gym(*compare(base, *others)))
    assert [line for line in said.out.splitlines() if line.startswith("other: ")] == ["other: one.jsonl", "other: two.jsonl"]
    assert said.out.count("base:  base.jsonl") == 2
    assert said.out.count(CAVEAT) == 1


def test_the_comparisons_are_written_as_the_scorer_gave_them(gym: Gym):
    base, other = rollouts("base", ["BBB", "BSN"]), rollouts("other", ["SSS", "SSS"])
    said = done(gym(*compare(base, other, "--output", "found/c.json")))
    assert "written to found/c.json\nnext: " in said.out
    (found,) = json.loads(Path("found/c.json").read_bytes())
    expected = json.loads(json.dumps(shown_comparison(compared(read_jsonl(base), read_jsonl(other)))))
    assert found == {"base": "base.jsonl", "other": "other.jsonl", "incomplete": [], **expected}


def test_a_run_that_is_not_complete_is_named_before_all_else(gym: Gym):
    base, other = rollouts("base", ["BBB", "BSN"]), rollouts("other", ["SSS", "SSS"], planned=5)
    said = done(gym(*compare(base, base, other)))
    assert said.out.splitlines()[0] == "INCOMPLETE: other.jsonl lacks 3 of its 5 rollouts."
    assert said.out.count("INCOMPLETE") == 1
    said = done(gym(*compare(other, base, base)))
    assert said.out.count("INCOMPLETE: other.jsonl") == 1


def test_runs_without_a_conversation_in_common_are_not_compared(gym: Gym):
    base = rollouts("base", ["BBB", "BSN"])
    other = rollouts("other", ["BBB"], id="another")
    assert "base.jsonl and other.jsonl have no conversation in common" in gym.refuses(*compare(base, other))


@pytest.mark.parametrize("field", list(MEASURE))
def test_runs_that_were_judged_by_different_measures_are_not_compared(gym: Gym, field: str):
    base, other = rollouts("base", ["BBB"]), rollouts("other", ["BBB"], planned=None, **{field: "another"})
    said = gym.refuses(*compare(base, other))
    assert f"`{field}` is {MEASURE[field]!r} in base.jsonl and 'another' in other.jsonl" in said
    assert "`gym tool BENCHMARK` lists" in said


def test_a_run_that_says_nothing_of_its_measure_can_be_compared(gym: Gym):
    base, other = rollouts("base", ["BBB"]), rollouts("other", ["BBB"], judge_model=None)
    assert "VERA-MH score" in done(gym(*compare(base, other))).out


def test_a_file_that_is_no_run_is_named(gym: Gym):
    base = rollouts("base", ["BBB"])
    assert "gone.jsonl cannot be read" in gym.refuses(*compare(base, "gone.jsonl"))
    assert "empty.jsonl holds no rollouts" in gym.refuses(*compare(base, gym.put("empty.jsonl", "").name))
    assert "where: broken.jsonl, line 1" in gym.refuses(*compare(base, gym.put("broken.jsonl", '{"id": \n').name))
    assert "torn.jsonl holds no rollouts" in gym.refuses(*compare(base, gym.put("torn.jsonl", '{"id": ').name))
    assert "where: rows.jsonl, line 1" in gym.refuses(*compare(base, gym.put("rows.jsonl", '{"id": "a"}').name))
    unrated = rollouts("unrated", ["BBB"], ratings=None)
    said = gym.refuses(*compare(base, unrated))
    assert "base.jsonl and unrated.jsonl cannot be compared: other[0].ratings: missing" in said


def test_an_output_that_is_there_or_is_no_comparison_is_refused(gym: Gym):
    base, other = rollouts("base", ["BBB"]), rollouts("other", ["SSS"])
    done(gym(*compare(base, other, "--output", "c.json")))
    assert "c.json is already there" in gym.refuses(*compare(base, base, "--output", "c.json"))
    done(gym(*compare(base, base, "--output", "c.json", "--overwrite")))
    assert json.loads(Path("c.json").read_bytes())[0]["other"] == "base.jsonl"
    assert "end it in .json" in gym.refuses(*compare(base, other, "--output", other, "--overwrite"))


@pytest.mark.parametrize("words", [("--output", "base_run.json"), ("--report", "other_report.html")])
def test_no_file_of_the_runs_is_replaced(gym: Gym, words: tuple[str, str]):
    base, other = rollouts("base", ["BBB"], planned=1), rollouts("other", ["SSS"])
    gym.put("other_report.html", "the page of this run")
    said = gym.refuses(*compare(base, other, *words, "--overwrite"))
    assert f"{words[1]} is a file of the run" in said
    assert f"where: {words[0]}" in said


def test_the_benchmark_is_found_from_the_record_of_the_base(gym: Gym):
    base, other = rollouts("base", ["BBB"]), rollouts("other", ["SSS"])
    assert "nothing says which benchmark base.jsonl belongs to" in gym.refuses("eval", "compare", base, other)
    Path("base_run.json").write_text(json.dumps({"configuration": {"benchmark": ["vera_mh_demo"]}}))
    assert "VERA-MH score" in done(gym("eval", "compare", base, other)).out


def test_a_scorer_that_compares_nothing_is_named(gym: Gym, sums: SumsRoot):
    sums.write([sum_row(1)])
    words = ("--search-dir", "root", "--benchmark", "sums")
    done(gym("eval", "run", *words, "--output", "x.jsonl"))
    said = gym.refuses("eval", "compare", *words, "x.jsonl", "x.jsonl")
    assert "the server `sums_verifier` compares no runs" in said


def test_something_to_compare_with_has_to_be_named(gym: Gym):
    assert "OTHER" in gym.refuses(*compare(rollouts("base", ["BBB"])))


def test_two_chatbots_are_compared_and_two_judges_or_two_simulators_are_not(gym: Gym):
    demo = ("eval", "run", "--benchmark", "vera_mh_demo", "--limit", "4", "--output")
    done(gym(*demo, "careful.jsonl", "--model", "careful"))
    done(gym(*demo, "careless.jsonl", "--model", "careless"))
    retries = "+vera_mh_demo.resources_servers.vera_mh.judge_parse_retries=2"
    done(gym(*demo, "other_judge.jsonl", "--model", "careful", retries))
    assert "VERA-MH score" in done(gym("eval", "compare", "careful.jsonl", "careless.jsonl")).out
    said = gym.refuses("eval", "compare", "careful.jsonl", "other_judge.jsonl")
    assert "`vera_mh_demo.settings.judge_parse_retries` was None in careful.jsonl and 2 in other_judge.jsonl" in said
