# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval show`: a run and its conversations at the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gym_host.cli.show import fitting
from gym_host.config.scripts import load
from gym_host.errors import UserError
from gym_host.runs.stored_run import open_run
from tests.support.command import Gym
from tests.support.components import KEY_VARIABLES, Json, SumsRoot, read_jsonl, snapshot, write_jsonl

RUN = ("eval", "run", "--benchmark", "vera_mh_demo", "--output", "x.jsonl")
SHOW = ("eval", "show", "x.jsonl")


@pytest.fixture
def run(gym: Gym) -> Gym:
    """The demo, run with every persona twice."""
    assert gym(*RUN, "--limit", "3", "--num-repeats", "2").code == 0
    return gym


# A run


def test_a_run_is_shown_as_it_was_at_its_end_and_nothing_is_written(gym: Gym):
    ran = gym(*RUN, "--limit", "3").out.partition("only a part was run")[0]
    before = snapshot(gym.folder)
    said = gym(*SHOW)
    assert said.code == 0
    assert said.out == f"{ran}next: gym eval show x.jsonl --persona NAME for one conversation, --list for which there are\n"
    assert snapshot(gym.folder) == before


def test_a_run_that_is_not_complete_says_so_first(run: Gym):
    rows = read_jsonl(run.folder / "x.jsonl")
    failed = {key: value for key, value in rows[0].items() if key not in ("ratings", "judge_receipts")}
    failed |= {"_ng_failure_class": "judge_failed", "error": "no answer"}
    write_jsonl(run.folder / "x.jsonl", rows[2:])
    write_jsonl(run.folder / "x_failures.jsonl", [failed])
    said = run(*SHOW)
    assert said.out.startswith("INCOMPLETE: 2 of 6 rollouts have no score.\n  1 failed as judge_failed\n")
    assert "4 of 6 rollouts scored, 1 failed." in said.out
    assert "judge_failed" in run(*SHOW, "--list").out
    assert "failed as" in run(*SHOW, "--persona", failed["persona_name"], "--repeat", "0").out


def test_where_no_file_tells_how_many_rollouts_were_planned_none_is_said_to_be_missing_and_none_to_be_all(run: Gym):
    for name in ("x_run.json", "x_materialized_inputs.jsonl"):
        (run.folder / name).unlink()
    write_jsonl(run.folder / "x.jsonl", read_jsonl(run.folder / "x.jsonl")[2:])
    said = run(*SHOW, "--benchmark", "vera_mh_demo")
    assert said.code == 0
    assert "4 rollouts scored, 0 failed; how many were planned is not known, since no file here tells it.\n" in said.out
    assert " of " not in said.out.partition(" rollouts scored")[0].rpartition("\n")[2]


def killed(run: Gym) -> Path:
    """The run as a kill in the middle of a line leaves it: no metrics, and half a last line of rollouts and failures."""
    rollouts, failures = run.folder / "x.jsonl", run.folder / "x_failures.jsonl"
    (run.folder / "x_aggregate_metrics.json").unlink()
    *lines, last = rollouts.read_bytes().splitlines(keepends=True)
    rollouts.write_bytes(b"".join(lines) + last[: len(last) // 2])
    failures.write_bytes(last[:30])
    return rollouts


@pytest.mark.parametrize(
    "words",
    [
        (*SHOW,),
        (*SHOW, "--list"),
        ("eval", "report", "x.jsonl", "--overwrite"),
        ("eval", "compare", "x.jsonl", "x.jsonl"),
        ("eval", "aggregate", "--input-glob", "x.jsonl", "--output", "all.jsonl"),
        ("tool", "vera_mh", "transcripts", "write", "--rollouts", "x.jsonl", "--output", "up"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_run_that_was_killed_in_the_middle_of_a_line_is_looked_at_without_it(
    run: Gym, words: tuple[str, ...], caplog: pytest.LogCaptureFixture
):
    rollouts = killed(run)
    before = rollouts.read_bytes()
    said = run(*words)
    assert said.code in (0, 1), said.err
    assert "half a line at the end of x.jsonl is left out" in caplog.text
    if "--list" not in words:
        assert "INCOMPLETE: " in said.out
    assert rollouts.read_bytes() == before


def test_a_broken_metrics_file_is_told_only_where_it_is_read_with_what_computes_it_anew(run: Gym):
    shown = run(*SHOW).out
    metrics = run.put("x_aggregate_metrics.json", '[{"agent')
    assert run(*SHOW).out == shown
    with pytest.raises(
        UserError, match=r"metrics.json cannot be read[^$]*run the command that wrote the run again with --resume"
    ):
        _ = open_run(run.folder / "x.jsonl").metrics
    assert run(*RUN, "--limit", "3", "--num-repeats", "2", "--resume").code == 0
    assert json.loads(metrics.read_bytes())[0]["num_scored"] == 6


def test_rows_that_were_judged_by_different_judges_are_called_mixed(run: Gym):
    rows = read_jsonl(run.folder / "x.jsonl")
    write_jsonl(run.folder / "x.jsonl", [rows[0] | {"judge_model": "another"}, *rows[1:]])
    assert "MIXED: `judge_model` is not the same in all rows: another, demo-judge" in run(*SHOW).out


def test_prices_that_are_put_into_the_record_afterwards_are_reckoned_with(run: Gym):
    assert "Money" not in run(*SHOW).out
    record = json.loads((run.folder / "x_run.json").read_bytes())
    record["prices"] = {"vera_mh_demo_judge": {"input": 1_000_000, "output": 0}}
    (run.folder / "x_run.json").write_text(json.dumps(record))
    tokens = next(entry["input_tokens"] for entry in record["usage"] if entry["role"] == "judge")
    assert f"{tokens:,}.00" in run(*SHOW).out


def test_a_run_without_its_record_is_shown_once_the_benchmark_is_named(run: Gym):
    (run.folder / "x_run.json").unlink()
    assert "--benchmark" in run.refuses(*SHOW)
    assert "6 of 6 rollouts scored" in run(*SHOW, "--benchmark", "vera_mh_demo").out


def test_a_file_without_rollouts_and_a_benchmark_without_views_are_refused(gym: Gym, sums: SumsRoot):
    gym.put("empty.jsonl", "")
    assert "holds no rollouts" in gym.refuses("eval", "show", "empty.jsonl")
    gym("eval", "run", "--benchmark", "sums", "--search-dir", sums.path, "--output", "s.jsonl")
    assert "the server `sums_verifier` has no view `overview`" in gym.refuses(
        "eval", "show", "s.jsonl", "--search-dir", sums.path
    )


# One conversation


def test_one_conversation_is_shown_with_its_turns_and_the_path_of_the_judge(run: Gym):
    row = read_jsonl(run.folder / "x.jsonl")[3]
    out = run(*SHOW, "--persona", row["persona_name"].upper(), "--repeat", "1").out
    assert out.startswith(f"{row['persona_name']}, played by scripted, repeat 1\n")
    assert out.count(" chatbot\n") == sum(turn["speaker"] == "provider" for turn in row["conversation"])
    words = " ".join(out.split())
    assert all(" ".join(turn["response"].split()) in words for turn in row["conversation"])
    assert all(f"{step['question_id']} {step['dimension']}: {step['answer']}, then" in words for step in row["question_path"])


def test_where_several_fit_they_are_listed_with_what_tells_them_apart(run: Gym):
    said = run(*SHOW, "--persona", "Mara")
    assert said.out.startswith("2 conversations")
    assert said.out.endswith("next: say which with --repeat\n")
    assert run(*SHOW, "--simulator", "scripted").out.endswith("next: say which with --persona and --repeat\n")
    assert run(*SHOW, "--list").out.startswith("6 conversations")
    one = run(*SHOW, "--list", "--persona", "mara", "--repeat", "0").out
    assert "1 conversation" in one
    assert one.endswith("next: --persona Mara --simulator scripted --repeat 0 instead of --list shows it\n")
    assert run(*SHOW, "--persona", "Mara", "--simulator", "scripted", "--repeat", "0").out.startswith("Mara, played by")


@pytest.mark.parametrize("name", ["x_failures.jsonl", "x.json", "."])
def test_a_file_that_is_no_run_is_not_blamed_on_an_output(run: Gym, name: str):
    for words in (("show", name), ("report", name, "--output", "y.html"), ("export", name, "--to", "mlflow", "--output", "y")):
        if words[0] == "export":
            pytest.importorskip("mlflow")
        said = run.refuses("eval", *words)
        assert f"{name} is no rollouts file of a run" in said
        assert "--output" not in said


def test_the_views_of_a_server_are_run_once(run: Gym, monkeypatch: pytest.MonkeyPatch):
    seen: list[Path] = []

    def seen_load(path: Path) -> ModuleType:
        seen.append(path)
        return load(path)

    monkeypatch.setattr("gym_host.config.views.load", seen_load)
    for words in ((), ("--list",), ("--persona", "Mara", "--repeat", "0")):
        seen.clear()
        assert run(*SHOW, *words).code == 0
        assert [path.name for path in seen] == ["views.py"]


def test_a_misspelled_persona_is_told_with_the_one_that_was_meant(run: Gym):
    assert "did you mean `Mara`? (known: Ines, Mara, Tobias)" in run.refuses(*SHOW, "--persona", "Marra")
    assert "--repeat 7" in run.refuses(*SHOW, "--persona", "Mara", "--repeat", "7")


def test_what_a_model_said_does_nothing_to_the_terminal(run: Gym):
    rows = read_jsonl(run.folder / "x.jsonl")
    rows[0]["conversation"][1]["response"] = "red \x1b[31m [bold]and[/bold] :warning:\r\nnext line"
    write_jsonl(run.folder / "x.jsonl", rows)
    out = run(*SHOW, "--persona", rows[0]["persona_name"], "--repeat", "0").out
    assert "\x1b" not in out
    assert "red \ufffd[31m [bold]and[/bold] :warning:" in out


HOSTILE = {
    "clipboard": "\x1b]52;c;ZWNobw==\x07",
    "title": "\x1b]0;owned\x1b\\",
    "link": "\x1b]8;;http://example.invalid\x1b\\here\x1b]8;;\x1b\\",
    "clear": "\x1b[2J\x1b[H",
    "one byte": "\x9b2J\x9d52;c;eA==\x9c",
    "back": "\b\b\b100.00\r",
}


@pytest.mark.parametrize("planted", HOSTILE)
def test_no_field_of_a_row_a_record_or_a_failure_reaches_the_terminal_as_more_than_text(run: Gym, planted: str):
    text = f"before{HOSTILE[planted]}after"
    rows = read_jsonl(run.folder / "x.jsonl")
    for row in rows[:2]:
        row["rating_reasoning"] = dict.fromkeys(row["ratings"], text)
        row["question_path"] = [step | {"reasoning": text, "dimension": text} for step in row["question_path"]]
        row |= dict.fromkeys(("persona_name", "user_simulator", "judge_model", "disclosure_level", "risk_level"), text)
        row["conversation"] = [turn | {"response": text} for turn in row["conversation"]]
        row["simulation"]["turn_records"] = [one | {"model": text} for one in row["simulation"]["turn_records"]]
    failed = {key: value for key, value in rows[2].items() if key not in ("ratings", "judge_receipts")}
    write_jsonl(run.folder / "x_failures.jsonl", [failed | {"_ng_failure_class": text, "error": text, "failure_stage": text}])
    write_jsonl(run.folder / "x.jsonl", [*rows[:2], *rows[3:]])
    record = json.loads((run.folder / "x_run.json").read_bytes())
    record["usage"] = [entry | {"server": text} for entry in record["usage"]]
    (run.folder / "x_run.json").write_text(json.dumps(record))
    for words in ((), ("--list",), ("--persona", text, "--repeat", "0"), ("--persona", failed["persona_name"], "--repeat", "0")):
        said = run(*SHOW, *words)
        assert said.code == 0, said.err
        assert "before" in said.out
        assert [char for char in said.out + said.err if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160)] == []
    assert "\x1b" not in run.refuses(*SHOW, "--persona", "nobody")


ENTRIES: list[Json] = [{"names": {"persona": persona, "simulator": simulator}} for persona in ("Ana", "Bo") for simulator in "gc"]


def test_names_are_looked_for_among_what_the_names_before_them_left():
    assert fitting(ENTRIES, {}) == ENTRIES
    assert fitting(ENTRIES, {"persona": "ana"}) == ENTRIES[:2]
    assert fitting(ENTRIES, {"persona": "Bo", "simulator": "C"}) == ENTRIES[3:]
    with pytest.raises(UserError, match="--simulator x") as caught:
        fitting(ENTRIES, {"persona": "Bo", "simulator": "x"})
    assert "known: c, g" in str(caught.value)


# The pager


def at_a_terminal(folder: Path, *words: str, pager: str) -> str:
    """What a person sees of the command at a terminal, with that pager."""
    ours, theirs = os.openpty()
    kept = {name: value for name, value in os.environ.items() if name not in KEY_VARIABLES}
    command = [sys.executable, "-m", "gym_host.cli.main", *words]
    process = subprocess.Popen(
        command, cwd=folder, env=kept | {"PAGER": pager, "TERM": "xterm"}, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # How Linux says that nobody writes any more.
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert process.wait() == 0
    return seen.decode()


def test_a_conversation_goes_through_the_users_pager_at_a_terminal_and_a_run_does_not(run: Gym):
    paged = at_a_terminal(run.folder, *SHOW, "--persona", "Mara", "--repeat", "0", pager="sed 's/^/> /'")
    assert "> Mara, played by scripted" in paged
    assert "\x1b[1" not in paged, "a pager that may not know colours gets none"
    assert "> Overall" not in at_a_terminal(run.folder, *SHOW, pager="sed 's/^/> /'")
