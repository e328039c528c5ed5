# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Every command ends with an exit code that says how it went, and with a last line that says what to do next."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path

import pytest
import yaml

from tests.support.command import Gym
from tests.support.components import SumsRoot, gym_process, sum_row
from tests.support.demo import PACK_FOLDER
from tests.support.servers import env_start, free_port
from tests.support.words import all_commands

DEMO = ("--benchmark", "vera_mh_demo")
RUN = ("eval", "run", *DEMO, "--limit", "2", "--output")
AGAIN = ("eval", "reverify", *DEMO, "--inputs", "x_materialized_inputs.jsonl", "--rollouts", "x.jsonl", "--output")

ENDS = [
    (0, ("eval", "prepare", *DEMO), "gym eval run --benchmark vera_mh_demo"),
    (0, (*RUN, "x.jsonl"), "without --limit"),
    (0, (*RUN, "x.jsonl", "--resume"), "without --limit"),
    (0, (*RUN, "careless.jsonl", "--model", "careless"), "without --limit"),
    (0, ("eval", "run", *DEMO, "--output", "whole.jsonl"), "gym eval compare whole.jsonl OTHER.jsonl"),
    (0, (*AGAIN, "y.jsonl"), "gym eval compare x.jsonl y.jsonl"),
    (
        0,
        ("eval", "aggregate", *DEMO, "--input-glob", "x.jsonl", "--output", "all.jsonl"),
        "gym eval compare all.jsonl OTHER.jsonl",
    ),
    (0, ("eval", "compare", *DEMO, "x.jsonl", "careless.jsonl"), "read the conversations that differ"),
    (0, ("eval", "show", "x.jsonl"), "gym eval show x.jsonl --persona NAME"),
    (0, ("eval", "show", "x.jsonl", "--list"), "say which with --persona"),
    (0, ("eval", "show", "x.jsonl", "--persona", "Mara"), "gym eval show x.jsonl --list"),
    (0, ("eval", "compare", *DEMO, "x.jsonl", "careless.jsonl", "--report", "both.html"), "open both.html in a browser"),
    (0, ("eval", "report", *DEMO, "all.jsonl"), "open it in a browser"),
    (1, ("env", "status"), "gym env start --benchmark NAME"),
    (0, ("env", "resolve", *DEMO), "gym env validate"),
    (0, ("env", "validate", *DEMO), "gym eval run"),
    (2, ("env", "validate", *DEMO, "+vera_mh_demo.resources_servers.vera_mh.x=1"), "mend these"),
    (0, ("dataset", "collate", *DEMO, "--mode", "example_validation"), "gym eval run --input"),
    (0, ("list", "benchmarks"), "gym eval prepare --benchmark NAME"),
    (0, ("list", "benchmarks", "vera_mh"), "gym eval prepare --benchmark vera_mh"),
    (0, ("list", "agents"), "gym env test"),
    (0, ("list", "models"), "--model-type inference_provider"),
    (0, ("search", "benchmarks", "demo"), "gym eval prepare"),
    (1, ("search", "weather", "forecast"), "gym list TYPE"),
    (0, ("tool", "vera_mh"), "gym tool vera_mh TOOL --help"),
    (0, ("tool", "vera_mh", "pack", "check", str(PACK_FOLDER)), "gym tool vera_mh pack rows"),
    (0, ("tool", "vera_mh", "pack", "rows", str(PACK_FOLDER), "--output", "rows.jsonl"), "gym eval run --input rows.jsonl"),
]


def last_line(out: str) -> str:
    return out.rstrip("\n").rpartition("\n")[2]


def test_every_command_ends_with_what_to_do_next(gym: Gym, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(gym.folder / "cache"))
    for code, words, told in ENDS:
        said = gym(*words)
        assert said.code == code, (words, said)
        line = last_line(said.out).removeprefix("# ")
        assert line.startswith("next: "), (words, said.out)
        assert told in line, (words, line)
    used = {" ".join(words) for _, words, _ in ENDS}
    unused = {command for command in all_commands() if not any(words.startswith(command) for words in used)}
    # What these print last is held by their own tests: they start servers, run tests, or need packages that may not be here.
    assert unused == {"env start", "env test", "eval export"}


def test_after_preparing_the_flags_that_say_which_chatbot_is_meant_are_named_where_the_benchmark_asks_for_them(
    gym: Gym, pack_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("VERA_MH_PACK", str(pack_folder))
    asked = "--model NAME --model-url URL --model-api-key KEY --output results/run.jsonl"
    said = gym("eval", "prepare", "--benchmark", "vera_mh")
    assert last_line(said.out) == f"next: gym eval run --benchmark vera_mh {asked}"
    gym.put("env.yaml", "policy_base_url: http://127.0.0.1:9/v1\npolicy_api_key: unused\n")
    said = gym("eval", "prepare", "--benchmark", "vera_mh")
    assert last_line(said.out) == "next: gym eval run --benchmark vera_mh --model NAME --output results/run.jsonl"
    said = gym("eval", "prepare", *DEMO, "--model", "careless")
    assert last_line(said.out) == "next: gym eval run --benchmark vera_mh_demo --model NAME --output results/run.jsonl"


def test_what_comes_next_can_be_pasted_whatever_files_are_called(gym: Gym, sums: SumsRoot):
    words = ("--search-dir", "root", "--benchmark", "sums")
    x, y = "my runs/it's $x.jsonl", "my runs/y.jsonl"
    quoted = shlex.quote(x)
    assert f"gym eval compare {quoted} OTHER.jsonl" in last_line(gym("eval", "run", *words, "--output", x).out)
    inputs = "my runs/it's $x_materialized_inputs.jsonl"
    said = gym("eval", "reverify", *words, "--inputs", inputs, "--rollouts", x, "--output", y)
    assert f"gym eval compare {quoted} 'my runs/y.jsonl' tells" in last_line(said.out)
    said = gym("eval", "aggregate", *words, "--input-glob", "my runs/y.jsonl", "--output", "my runs/all.jsonl")
    assert "gym eval compare 'my runs/all.jsonl' OTHER.jsonl" in last_line(said.out)
    said = gym("dataset", "collate", *words, "--output-dir", "a b")
    assert "`gym eval run --input 'a b/benchmark.jsonl'`" in last_line(said.out)
    assert gym("eval", "run", *DEMO, "--output", x, "--limit", "2", "--overwrite").code == 0
    assert f"gym eval show {quoted} --persona NAME" in last_line(gym("eval", "show", x).out)


@pytest.mark.parametrize("what", ["the same judge", "another judge", "never judged"])
def test_a_comparison_of_two_judgings_is_what_comes_next_only_where_it_is_not_refused(gym: Gym, what: str):
    if what == "never judged":
        gym.put("first.txt", "user: exam on friday\n\nchatbot: That sounds tense.\n")
        assert gym("tool", "vera_mh", "transcripts", "read", "first.txt", "--output", "x.jsonl").code == 0
    else:
        assert gym(*RUN, "x.jsonl").code == 0
    other = ["vera_mh_demo_judge.responses_api_models.scripted_model.model=other"] if what == "another judge" else []
    told = last_line(gym(*AGAIN, "y.jsonl", *other).out)
    compared = gym("eval", "compare", "x.jsonl", "y.jsonl", *DEMO)
    if what == "the same judge":
        assert (told[:42], compared.code) == ("next: gym eval compare x.jsonl y.jsonl tel", 0)
    else:
        assert (told[:38], compared.code) == ("next: gym eval show y.jsonl --list for", 2)
        assert gym("eval", "show", "y.jsonl", "--list").code == 0


def test_a_resolved_configuration_is_yaml_with_its_last_line(gym: Gym):
    assert "vera_mh_demo" in yaml.safe_load(gym("env", "resolve", *DEMO).out)


@pytest.mark.parametrize(
    "words", [("env", "resolve", *DEMO), ("env", "validate", *DEMO), ("env", "status"), ("list", "models"), ("search", "demo")]
)
def test_what_is_for_programs_is_nothing_but_json(gym: Gym, words: tuple[str, ...]):
    json.loads(gym(*words, "--json").out)


def test_the_tests_of_a_component_end_so_too(gym: Gym):
    root = SumsRoot(gym.folder / "root")
    tests = root.path / "resources_servers/sums_verifier/tests"
    tests.mkdir()
    for good, code, told in ((True, 0, "gym env validate"), (False, 1, "mend what fails")):
        (tests / "test_it.py").write_text(f"def test_it():\n    assert {good}\n")
        words = ("env", "test", "--search-dir", root.path, "+entrypoint=resources_servers/sums_verifier")
        process = gym_process(*words, cwd=gym.folder)
        out, err = process.communicate(timeout=60)
        assert process.returncode == code, err
        assert last_line(out).startswith(f"next: {told}")


def test_running_servers_say_how_they_are_used_and_one_that_ends_what_to_mend(
    gym: Gym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with env_start(*DEMO, cwd=tmp_path) as started:
        started.ready()
        monkeypatch.setenv("XDG_CACHE_HOME", started.environ["XDG_CACHE_HOME"])
        status = gym("env", "status")
        assert (status.code, last_line(status.out)[:26]) == (0, "next: gym eval run --no-se")
        started.process.send_signal(signal.SIGINT)
        assert started.ended() == 0
        assert last_line(started.out.text).startswith("next: in another terminal: gym eval run --no-serve")


def test_a_run_that_is_not_complete_ends_with_how_to_go_on(gym: Gym):
    root = SumsRoot(gym.folder / "root", [sum_row(1), sum_row(2, "failed")])
    words = ("eval", "run", "--search-dir", root.path, "--benchmark", "sums", "--output", "x.jsonl")
    said = gym(*words)
    assert (said.code, last_line(said.out)[:32]) == (1, "next: run the same command with ")
    assert gym("eval", "aggregate", *words[2:6], "--input-glob", "x.jsonl", "--output", "all.jsonl").code == 1


def test_what_the_user_has_to_mend_is_told_where_errors_go(gym: Gym):
    for words in (("eval", "run"), ("env", "status", "--head", f"http://127.0.0.1:{free_port()}"), ("list", "benchmarks", "x")):
        said = gym(*words)
        assert (said.code, said.out) == (2, "")
        assert "  to mend it: " in last_line(said.err)


def test_the_exit_codes_stand_in_the_help(gym: Gym):
    words = " ".join(gym("--help").out.split())
    assert "0 all that was asked for is done; 1 it ran, but something is missing or a check failed; 2 " in words
    assert "130 interrupted" in words
    assert "they end with 0, and say INCOMPLETE" in words
