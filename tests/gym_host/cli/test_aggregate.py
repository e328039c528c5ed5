# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval aggregate`: shards of one evaluation, as one run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from gym_host.runs.keys import key_of
from gym_host.runs.run_files import RunFiles
from tests.support.command import Gym, Said
from tests.support.components import SumsRoot, read_jsonl, snapshot, sum_row, write_jsonl
from tests.support.ratings import scored_row

Json = dict[str, Any]

SUMS = ("--search-dir", "root", "--benchmark", "sums")
ALL = RunFiles(Path("results/all.jsonl"))


def files(name: str) -> RunFiles:
    return RunFiles(Path(f"results/{name}.jsonl"))


def run(gym: Gym, sums: SumsRoot, name: str, rows: Iterable[Json], *words: str) -> RunFiles:
    """Runs rows into `results/<name>.jsonl`."""
    sums.write(rows)
    said = gym("eval", "run", *SUMS, "--output", files(name).rollouts, *words)
    assert said.code in (0, 1), said
    return files(name)


def aggregate(glob: str = "results/part*.jsonl", *words: str, output: Path = ALL.rollouts) -> tuple[str | Path, ...]:
    root = ("--search-dir", "root") if Path("root").is_dir() else ()
    return ("eval", "aggregate", *root, "--input-glob", glob, "--output", output, *words)


def done(said: Said) -> Said:
    assert said.code == 0, said
    return said


def change(path: Path, edit: Any) -> None:
    """Edits the rows of a file."""
    rows = read_jsonl(path)
    edit(rows)
    write_jsonl(path, rows)


def metrics(run: RunFiles) -> Json:
    (entry,) = json.loads(run.metrics.read_bytes())
    return dict(entry)


def record(run: RunFiles) -> Json:
    read: Json = json.loads(run.run.read_bytes())
    return read


ROWS = [sum_row(number) for number in range(5)]


# One run of many parts


def test_shards_that_numbered_their_own_tasks_are_numbered_anew_and_count_like_one_run(gym: Gym, sums: SumsRoot):
    whole = run(gym, sums, "whole", ROWS)
    run(gym, sums, "part1", ROWS[:2])
    run(gym, sums, "part2", ROWS[2:])
    said = done(gym(*aggregate()))
    assert "5 of 5 rollouts scored, 0 failed." in said.out
    assert read_jsonl(ALL.rollouts) == read_jsonl(whole.rollouts)
    assert metrics(ALL) == metrics(whole)


def test_shards_that_are_parts_of_one_numbering_keep_it(gym: Gym, sums: SumsRoot):
    whole = run(gym, sums, "whole", ROWS, "--num-repeats", "2")
    rows = read_jsonl(whole.rollouts)
    write_jsonl(files("part1").rollouts, rows[6:])
    write_jsonl(files("part2").rollouts, rows[1:6])
    done(gym(*aggregate("results/part*.jsonl", *SUMS)))
    assert read_jsonl(ALL.rollouts) == rows[1:]


def test_repeats_in_different_shards_stay_repeats_of_one_task(gym: Gym, sums: SumsRoot):
    whole = run(gym, sums, "whole", ROWS, "--num-repeats", "2")
    rows = read_jsonl(whole.rollouts)
    write_jsonl(files("part1").rollouts, rows[0::2])
    write_jsonl(files("part2").rollouts, [row | {"_ng_task_index": 4 - row["_ng_task_index"]} for row in rows[1::2]])
    done(gym(*aggregate("results/part*.jsonl", *SUMS)))
    assert [(row["number"], *key_of(row)) for row in read_jsonl(ALL.rollouts)] == [(row["number"], *key_of(row)) for row in rows]


def test_the_same_row_in_two_shards_is_kept_once_and_that_is_recorded(gym: Gym, sums: SumsRoot):
    part1 = run(gym, sums, "part1", ROWS[:3])
    write_jsonl(files("part2").rollouts, [row | {"_ng_task_index": 9} for row in read_jsonl(part1.rollouts)[1:2]])
    done(gym(*aggregate()))
    assert [row["number"] for row in read_jsonl(ALL.rollouts)] == [0, 1, 2]
    assert (record(ALL)["repeated_rows_left_out"], metrics(ALL)["agent_metrics"]["count"]) == (1, 3)


def test_its_record_names_the_shards_and_what_each_of_them_was(gym: Gym, sums: SumsRoot):
    parts = [run(gym, sums, "part1", ROWS[:2]), run(gym, sums, "part2", ROWS[2:])]
    done(gym(*aggregate()))
    found = record(ALL)
    assert [(shard["rollouts"], shard["rows"]) for shard in found["shards"]] == [
        ("results/part1.jsonl", 2),
        ("results/part2.jsonl", 3),
    ]
    assert [shard["identity"] for shard in found["shards"]] == [record(part)["identity"] for part in parts]
    assert (found["status"], found["counts"]) == ("complete", {"planned": 5, "scored": 5, "failed": {}})
    assert found["configuration"] == {"benchmark": ["sums"], "search_dir": ["root"]}
    assert not ALL.failures.exists()
    assert not ALL.inputs.exists()


def test_aggregates_can_be_aggregated(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", ROWS[:2])
    run(gym, sums, "part2", [*ROWS[2:], sum_row(7, "failed")])
    done(gym(*aggregate("results/part1.jsonl", output=files("one").rollouts)))
    assert gym(*aggregate("results/part2.jsonl", output=files("two").rollouts)).code == 1
    said = gym(*aggregate("results/one.jsonl,results/two.jsonl"))
    assert said.out.startswith("INCOMPLETE: 1 of 6 rollouts has no score.\n  1 failed as sum_failed\n")
    assert [row["number"] for row in read_jsonl(ALL.rollouts)] == [0, 1, 2, 3, 4]


# What is taken for a shard


def test_a_generous_glob_takes_the_rollouts_only_and_never_the_output_itself(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", [*ROWS[:2], sum_row(9, "failed", "scored")])
    sums.write([*ROWS[:2], sum_row(9, "failed", "scored")])
    done(gym("eval", "run", *SUMS, "--output", files("part1").rollouts, "--resume"))
    run(gym, sums, "part2", ROWS[2:])
    Path("results/part3.jsonl").mkdir()
    files("part2").rollouts.with_name("part2.jsonl.torn-12").write_text("{")
    for words in ((), ("--overwrite",)):
        done(gym(*aggregate("results/*", *words)))
        assert sorted(row["number"] for row in read_jsonl(ALL.rollouts)) == [0, 1, 2, 3, 4, 9]
        assert len(record(ALL)["shards"]) == 2


def test_several_globs_are_given_with_commas_and_a_shard_that_two_of_them_match_counts_once(gym: Gym, sums: SumsRoot):
    run(gym, sums, "one", ROWS[:2])
    run(gym, sums, "two", ROWS[2:])
    done(gym(*aggregate("results/one.jsonl, results/t*.jsonl,results/tw*.jsonl")))
    assert (len(record(ALL)["shards"]), record(ALL)["repeated_rows_left_out"]) == (2, 0)


@pytest.mark.parametrize("glob", ["results/part*.jsonl", "results/part1_*.jsonl", ","])
def test_a_glob_that_matches_no_rollouts_is_refused(gym: Gym, sums: SumsRoot, glob: str):
    run(gym, sums, "part1", ROWS[:1])
    files("part1").rollouts.unlink()
    assert "no rollouts file matches" in gym.refuses(*aggregate(glob))


# What is missing


def test_a_shard_that_lacks_rollouts_makes_the_whole_incomplete_and_is_named(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", [sum_row(1), sum_row(2, "failed"), sum_row(3, "status")])
    run(gym, sums, "part2", ROWS[4:])
    said = gym(*aggregate())
    assert said.code == 1
    assert said.out.splitlines()[:3] == [
        "INCOMPLETE: 2 of 4 rollouts have no score.",
        "  1 failed as agent_run_error",
        "  1 failed as sum_failed",
    ]
    assert "next: finish the shards, each with --resume; then aggregate them again with --overwrite" in said.out
    assert said.err == "results/part1.jsonl lacks 2 of its 3 rollouts\n"
    assert (metrics(ALL)["complete"], metrics(ALL)["failures_by_class"]) == (False, {"sum_failed": 1, "agent_run_error": 1})
    assert record(ALL)["status"] == "incomplete"


def test_a_shard_that_was_killed_and_so_has_counted_nothing_is_incomplete_too(gym: Gym, sums: SumsRoot):
    part = run(gym, sums, "part1", ROWS)
    left = record(part)
    del left["counts"]
    part.run.write_text(json.dumps(left | {"status": "running"}))
    change(part.rollouts, lambda rows: rows.pop())
    said = gym(*aggregate())
    assert (said.code, said.out.splitlines()[0]) == (1, "INCOMPLETE: 1 of 5 rollouts has no score.")


def test_a_shard_of_which_nothing_is_scored_counts_as_missing(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part0", [sum_row(7, "failed")])
    assert "no rollout is scored in results/part0.jsonl" in gym.refuses(*aggregate())
    run(gym, sums, "part1", ROWS[:2])
    said = gym(*aggregate())
    assert (said.code, said.out.splitlines()[0]) == (1, "INCOMPLETE: 1 of 3 rollouts has no score.")


def test_what_one_shard_lacks_and_another_has_is_not_missing(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", [sum_row(1), sum_row(2, "failed")])
    run(gym, sums, "part2", [sum_row(2)])
    said = done(gym(*aggregate()))
    assert "2 of 2 rollouts scored, 0 failed." in said.out
    assert "failed as" not in said.out


# What is refused


def test_two_outcomes_of_one_rollout_are_refused_and_both_files_named(gym: Gym, sums: SumsRoot):
    part1 = run(gym, sums, "part1", ROWS[:2])
    rows = read_jsonl(part1.rollouts)
    write_jsonl(files("part2").rollouts, [rows[0], rows[1] | {"reward": 7.0}])
    said = gym.refuses(*aggregate())
    assert "sum-1, rollout 0, stands in results/part1.jsonl and, with another outcome, in results/part2.jsonl" in said


def test_a_rollout_that_stands_twice_in_a_shard_is_refused_by_its_line(gym: Gym, sums: SumsRoot):
    part1 = run(gym, sums, "part1", ROWS[:2])
    change(part1.rollouts, lambda rows: rows.append(rows[0]))
    assert "where: results/part1.jsonl, line 3" in gym.refuses(*aggregate())


def test_what_was_rated_by_different_measures_is_refused_with_the_field_and_both_values(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", [sum_row(1, rater="one"), sum_row(2)])
    run(gym, sums, "part2", [sum_row(3), sum_row(4, rater="two")])
    told = "`rater` is 'one' in results/part1.jsonl and 'two' in results/part2.jsonl, so they cannot be counted together"
    assert told in gym.refuses(*aggregate())


@pytest.mark.parametrize("field", ["judge_model", "rubric_version", "pack_sha256"])
def test_another_judge_rubric_or_pack_is_another_measure(gym: Gym, field: str):
    demo = ("--benchmark", "vera_mh_demo", "--limit", "2", "--output")
    done(gym("eval", "run", *demo, files("part1").rollouts))
    rows = read_jsonl(files("part1").rollouts)
    write_jsonl(files("part2").rollouts, [row | {field: "another", "id": f"other {row['id']}"} for row in rows])
    said = gym.refuses(*aggregate())
    assert f"`{field}` is {rows[0][field]!r} in results/part1.jsonl and 'another' in results/part2.jsonl" in said
    assert "gym eval reverify" in said


def test_an_output_that_is_there_is_refused_and_only_an_aggregate_is_ever_replaced(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", ROWS[:2])
    run(gym, sums, "part2", ROWS[2:])
    done(gym(*aggregate()))
    assert "results/all.jsonl is already there" in gym.refuses(*aggregate())
    done(gym(*aggregate("results/part*.jsonl", "--overwrite")))
    part1 = files("part1").rollouts
    said = gym.refuses(*aggregate("results/part*.jsonl", "--overwrite", output=part1))
    assert "results/part1.jsonl is no aggregate, but of a run of its own" in said


def test_metrics_that_cannot_be_computed_leave_what_was_there(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", ROWS[:2])
    done(gym(*aggregate()))
    change(files("part1").rollouts, lambda rows: rows[0].update(reward="much"))
    before = snapshot(gym.folder)
    said = gym(*aggregate("results/part*.jsonl", "--overwrite"))
    assert (said.code, snapshot(gym.folder)) == (2, before)
    assert "the metrics could not be computed" in said.err


def test_a_row_that_the_metrics_cannot_take_is_named_by_its_shard(gym: Gym):
    for name, personas in (("part1", ("Ana", "Bo")), ("part2", ("Cy", "Di"))):
        rows = [scored_row("BSN", persona=persona) for persona in personas]
        write_jsonl(
            gym.put(f"results/{name}.jsonl", ""),
            [row | {"_ng_task_index": task, "_ng_rollout_index": 0} for task, row in enumerate(rows)],
        )
    change(files("part2").rollouts, lambda rows: rows[0].pop("ratings"))
    said = gym.refuses(*aggregate("results/part*.jsonl", "--benchmark", "vera_mh_demo"))
    assert f"where: {files('part2').rollouts}: Cy__sim, rollout 0" in said


def test_the_benchmark_is_the_one_of_the_shards_unless_one_names_it(gym: Gym, sums: SumsRoot):
    part1 = run(gym, sums, "part1", ROWS[:2])
    part1.run.unlink()
    said = gym.refuses(*aggregate())
    assert "nothing says which benchmark results/part1.jsonl belongs to" in said
    assert "--benchmark" in said
    done(gym(*aggregate("results/part*.jsonl", *SUMS[2:])))
    assert record(ALL)["configuration"] == {"benchmark": ["sums"], "search_dir": ["root"]}


@pytest.mark.parametrize("content", ["{", ""])
def test_a_record_that_cannot_be_read_is_named(gym: Gym, sums: SumsRoot, content: str):
    part1 = run(gym, sums, "part1", ROWS[:2])
    part1.run.write_text(content)
    said = gym.refuses(*aggregate())
    assert "results/part1_run.json cannot be read" in said
    assert "move it away" in said


def test_no_run_is_gone_on_with_in_the_files_of_an_aggregate(gym: Gym, sums: SumsRoot):
    run(gym, sums, "part1", ROWS[:2])
    done(gym(*aggregate()))
    said = gym.refuses("eval", "run", *SUMS, "--output", ALL.rollouts, "--resume")
    assert "this is the output of another run" in said


# The real metrics


def test_shards_of_the_demo_come_to_the_metrics_of_the_whole_run(gym: Gym):
    demo = ("--benchmark", "vera_mh_demo", "--output")
    done(gym("eval", "run", *demo, files("whole").rollouts))
    done(gym("eval", "run", *demo, files("part1").rollouts, "--limit", "3"))
    keep = {
        "id",
        "persona_index",
        "persona_name",
        "persona",
        "persona_system_prompt",
        "user_simulator",
        "risk_level",
        "max_turns",
    }
    rows = [
        {key: value for key, value in row.items() if key in keep | {"responses_create_params"}}
        for row in read_jsonl(files("whole").inputs)
    ]
    write_jsonl(Path("rest.jsonl"), rows[3:])
    done(gym("eval", "run", *demo, files("part2").rollouts, "--input", "rest.jsonl"))
    said = done(gym(*aggregate()))
    assert metrics(ALL) == metrics(files("whole"))
    assert [key_of(row) for row in read_jsonl(ALL.rollouts)] == [(task, 0) for task in range(8)]
    assert said.out.count("It is no certification") == 1


def test_shards_of_two_chatbots_are_never_counted_together(gym: Gym):
    demo = ("eval", "run", "--benchmark", "vera_mh_demo", "--limit", "2", "--output")
    assert gym(*demo, "part1.jsonl", "--model", "careful").code == 0
    assert gym(*demo, "part2.jsonl", "--model", "careless").code == 0
    said = gym.refuses("eval", "aggregate", "--input-glob", "part*.jsonl", "--output", "all.jsonl")
    assert "`policy_model.settings.model` was 'careful' in part1.jsonl and 'careless' in part2.jsonl" in said


def test_the_overrides_of_the_run_go_with_its_benchmark_its_root_is_repeated_and_secrets_are_not_kept(gym: Gym, sums: SumsRoot):
    key, greeting = "sk-kept-nowhere-0123456789", "+sums_verifier.resources_servers.sums_verifier.greeting=hi"
    words = (greeting, f"+sums.responses_api_agents.sums_agent.api_key={key}")
    done(gym("eval", "run", *SUMS, "--output", "results/part1.jsonl", *words))
    kept = record(RunFiles.of(gym.folder / "results/part1.jsonl"))["configuration"]["overrides"]
    assert kept == [greeting, "+sums.responses_api_agents.sums_agent.api_key=****"]
    (gym.folder / "more").mkdir()
    merge = ("eval", "aggregate", "--input-glob", "results/part1.jsonl", "--output", "results/all.jsonl", "--search-dir", "more")
    assert "add to the command: --search-dir root\n" in gym.refuses(*merge)
    done(gym(*merge, "--search-dir", "root"))
    again = record(RunFiles.of(gym.folder / "results/all.jsonl"))["configuration"]
    assert again == {"benchmark": ["sums"], "search_dir": ["more", "root"], "overrides": [greeting]}
