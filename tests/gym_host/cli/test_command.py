# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The command as its users call it: what is wrong is said in a few plain lines, and nothing is written or lost."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import Gym
from tests.support.components import SumsRoot, gym_process, read_jsonl, snapshot, sum_row
from tests.support.endpoint import Fault, endpoint_process

PROJECT = Path(__file__).parents[3]
SUMS = ("--search-dir", "root", "--benchmark", "sums")
DEMO = ("eval", "run", "--benchmark", "vera_mh_demo", "--output", "results/x.jsonl")
KEY = "sk-very-secret-0123456789"
MODEL_FLAGS = ("--model", "chatbot", "--model-api-key", KEY, "--model-url")
SWAP = "~policy_model.responses_api_models.scripted_model"


def sums_run(*words: str) -> tuple[str, ...]:
    return ("eval", "run", "--search-dir", "root", "--benchmark", "sums", "--output", "results/x.jsonl", *words)


# The words of the command


def test_the_command_alone_says_what_is_missing(gym: Gym):
    assert "gym: the following arguments are required: COMMAND" in gym.refuses()
    assert "gym eval: the following arguments are required: VERB" in gym.refuses("eval")


def test_help_lists_the_commands_and_the_flags_that_nemo_gym_has(gym: Gym):
    said = gym("--help")
    assert (said.code, said.err) == (0, "")
    assert "eval" in said.out
    verb = gym("eval", "run", "--help")
    assert verb.code == 0
    words = set(verb.out.replace(",", " ").replace("]", " ").split())
    assert words >= {
        *("--config", "--benchmark", "--environment", "--resources-server", "--model-type", "--search-dir", "--resume"),
        *("--agent", "-a", "--input", "-i", "--output", "-o", "--limit", "--num-repeats", "--interleave-repeats"),
        *("--concurrency", "--split", "--model", "-m", "--model-url", "--model-api-key", "--temperature", "--top-p"),
        *("--max-output-tokens", "--disable-aggregation", "-v"),
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("evla",), "'evla'"),
        (("eval", "rnu"), "'rnu'"),
        (("eval", "run", "--limt", "3"), "did you mean `--limit`?"),
        (("eval", "run", "--temprature=0"), "did you mean `--temperature`?"),
        (("eval", "run", "vera_mh"), "there is no `vera_mh` here"),
        ((*DEMO, "--limit", "0"), "'0' is not a whole number from 1 on"),
        ((*DEMO, "--limit", "-3"), "'-3' is not a whole number from 1 on"),
        ((*DEMO, "--num-repeats", "1.5"), "'1.5' is not a whole number from 1 on"),
        ((*DEMO, "--limit", "9" * 20), f"'{'9' * 20}' is too large a number"),
        ((*DEMO, "--max-output-tokens", "9" * 20), "is too large a number"),
        ((*DEMO, "--num-repeats", "10000000"), "80,000,000 rollouts are too many for one run"),
        ((*DEMO, "--concurrency", "many"), "'many' is not a whole number from 1 on"),
        ((*DEMO, "--temperature", "warm"), "'warm'"),
        ((*DEMO, "--resume", "--overwrite"), "not allowed with"),
        ((*DEMO, "--head", "http://127.0.0.1:1"), "add --no-serve, or leave --head out"),
        (("eval", "run", "--benchmark", "vera_mh_demo"), "give --output results/my_run.jsonl"),
        (("eval", "run", "--benchmark", "vera_mh_demo", "--output", "results"), "end it in .jsonl"),
        (("eval", "run", "--output", "x.jsonl"), "name a benchmark (--benchmark vera_mh)"),
        (("eval", "prepare"), "name a benchmark (--benchmark vera_mh)"),
    ],
)
def test_a_word_that_is_wrong_is_named_with_what_would_be_right(gym: Gym, words: tuple[str, ...], told: str):
    assert told in gym.refuses(*words)


def test_the_command_says_as_a_process_what_it_says_here(gym: Gym):
    process = gym_process(*DEMO, "--limit", "0", cwd=gym.folder)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (2, "", gym(*DEMO, "--limit", "0").err)


def test_a_word_that_cannot_be_read_as_text_is_refused_with_what_reads_it(gym: Gym):
    said = gym.refuses("eval", "run", "--benchmark", "vera_mh_demo", "--output", os.fsdecode(b"results/\xfc.jsonl"))
    assert "is not text in utf-8" in said
    assert "PYTHONUTF8=1" in said


def test_ctrl_c_before_the_command_is_there_ends_it_as_ctrl_c_does(gym: Gym):
    program = (
        "import sys; from importlib.abc import MetaPathFinder\n"
        "class CtrlC(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'gym_host.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, CtrlC())\n"
        "from gym_host.cli.entry import gym\n"
        "sys.exit(gym())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


# Names, keys and configurations


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--benchmark", "vera_mh_dmo"), "did you mean `vera_mh_demo`?"),
        (("--benchmark", "vera_mh_demo", "--agent", "vera_mh_demo_agnt"), "did you mean `vera_mh_demo_agent`?"),
        (("--benchmark", "vera_mh_demo", "--model-type", "scripted_modl"), "there is no model type `scripted_modl`"),
        (("--benchmark", "vera_mh_demo", "--model-type", "inference_providr"), "did you mean `inference_provider`?"),
        (("--benchmark", "vera_mh_demo", "--resources-server", "vera_m"), "did you mean `vera_mh`?"),
        (("--benchmark", "vera_mh_demo", "--split", "train"), "splits there are: benchmark"),
        (("--benchmark", "vera_mh_demo", "--model", "carefull"), "did you mean `careful`?"),
        (("--benchmark", "vera_mh_demo", "--search-dir", "nowhere"), "--search-dir"),
        (("--benchmark", "vera_mh_demo", "policy_model_nam=careless"), "did you mean `policy_model_name`?"),
        (
            ("--benchmark", "vera_mh_demo", "vera_mh_demo.resources_servers.vera_mh.pac=x"),
            "vera_mh_demo.resources_servers.vera_mh.pack",
        ),
        (("--config", "gone.yaml"), "there is no file or folder `gone.yaml`"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_one(gym: Gym, words: tuple[str, ...], told: str):
    assert told in gym.refuses("eval", "run", "--output", "results/x.jsonl", *words)


def test_an_unknown_setting_is_named_with_its_place_and_the_right_one(gym: Gym):
    gym.put("mine.yaml", "vera_mh_demo: {resources_servers: {vera_mh: {judge_parse_retris: 3}}}")
    said = gym.refuses(*DEMO, "--config", "mine.yaml")
    assert "vera_mh_demo.resources_servers.vera_mh.judge_parse_retris" in said
    assert "did you mean `judge_parse_retries`?" in said


def test_a_setting_of_the_wrong_kind_is_named_with_its_value(gym: Gym):
    said = gym.refuses(*DEMO, "++vera_mh_demo.resources_servers.vera_mh.judge_parse_retries=often")
    assert "vera_mh_demo.resources_servers.vera_mh.judge_parse_retries = 'often'" in said


def test_a_malformed_configuration_is_named_by_file_and_line(gym: Gym):
    path = gym.put("mine.yaml", "a: 1\nb: [1, 2\nc: 3\n")
    assert f"{path}, line 3" in gym.refuses(*DEMO, "--config", "mine.yaml")


def test_a_reference_to_nobody_is_named(gym: Gym):
    place = "vera_mh_demo_agent.responses_api_agents.vera_mh_agent.resources_server"
    assert f"{place}.name" in gym.refuses(*DEMO, f"{place}.name=vera_mh_dem")


def test_keys_that_are_not_set_are_named_with_the_variables_that_set_them(gym: Gym):
    words = ("eval", "run", "--benchmark", "vera_mh", "--output", "x.jsonl", *MODEL_FLAGS, "http://127.0.0.1:9/v1")
    said = gym.refuses(*words)
    for name in ("OPENAI_API_KEY", "VERA_MH_JUDGE_API_KEY", "VERA_MH_USER_GPT52_API_KEY", "VERA_MH_USER_OPUS45_API_KEY"):
        assert name in said
    assert KEY not in said


def test_a_chatbot_that_nobody_named_is_asked_for_by_its_flags(gym: Gym, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("OPENROUTER_API_KEY", "unused")
    said = gym.refuses("eval", "run", "--benchmark", "vera_mh", "--output", "x.jsonl")
    for flag in ("--model-url", "--model-api-key", "--model,"):
        assert f"give {flag}" in said


@pytest.mark.parametrize("value", ["0", "-1", "many", ""])
def test_a_number_of_attempts_that_is_none_is_named(gym: Gym, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("NEMO_GYM_MAX_ROLLOUT_ATTEMPTS", value)
    said = gym.refuses(*DEMO)
    assert "where: environment variable NEMO_GYM_MAX_ROLLOUT_ATTEMPTS\n  to mend it: set it to such a number" in said


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-5", "-0.1", "warm", "1e999", ""])
def test_a_temperature_that_is_none_is_named(gym: Gym, value: str):
    assert f"argument --temperature: {value!r} is not a number from 0 on" in gym.refuses(*DEMO, f"--temperature={value}")


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "7", "1.01", "most"])
def test_a_share_of_the_likeliest_words_that_is_none_is_named(gym: Gym, value: str):
    assert f"argument --top-p: {value!r} is not a number above 0, up to 1" in gym.refuses(*DEMO, f"--top-p={value}")


def test_the_ends_of_what_sampling_may_be_are_taken_and_stand_in_the_rows(gym: Gym):
    assert gym(*DEMO, "--limit", "1", "--temperature", "0", "--top-p", "1").code == 0
    (row,) = read_jsonl(gym.folder / "results/x_materialized_inputs.jsonl")
    assert [row["responses_create_params"][name] for name in ("temperature", "top_p")] == [0.0, 1.0]


def test_more_at_once_than_the_system_has_files_is_refused(gym: Gym):
    assert "open files" in gym.refuses(*DEMO, "--concurrency", "1000000000")


def test_what_was_wrong_is_traced_where_that_is_wanted(gym: Gym, caplog: pytest.LogCaptureFixture):
    assert gym("eval", "run", "--output", "x.jsonl", "-v").code == 2
    assert "load_setup" in caplog.text


# Rows, packs and outputs


def test_rows_that_are_not_there_are_named(gym: Gym):
    said = gym.refuses(*DEMO, "--input", "gone.jsonl")
    assert "gone.jsonl cannot be read: No such file" in said
    assert "to mend it: check its name" in said


@pytest.mark.parametrize("line", ["{broken", "[1]", '{"id": "without parameters"}'])
def test_a_malformed_row_is_named_by_file_and_line(gym: Gym, line: str):
    gym.put("rows.jsonl", f"{json.dumps(sum_row(1))}\n{line}\n")
    assert "where: rows.jsonl, line 2\n" in gym.refuses(*DEMO, "--input", "rows.jsonl")


def test_a_pack_that_is_not_there_is_named_with_the_command_that_fetches_it(gym: Gym, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERA_MH_PACK", str(gym.folder / "nowhere"))
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("OPENROUTER_API_KEY", "unused")
    gym.put("rows.jsonl", json.dumps(sum_row(1, persona_system_prompt="You are Ines.", user_simulator="gpt-5.2", max_turns=2)))
    words = ("eval", "run", "--benchmark", "vera_mh", "--input", "rows.jsonl", "--output", "results/x.jsonl")
    said = gym.refuses(*words, *MODEL_FLAGS, "http://127.0.0.1:9/v1")
    assert f"{gym.folder / 'nowhere' / 'rubric.tsv'} is missing" in said
    assert "gym eval prepare --benchmark vera_mh" in said


def test_a_pack_that_has_drifted_is_named_with_both_hashes(gym: Gym):
    shutil.copytree(PROJECT / "benchmarks/vera_mh_demo/pack", gym.folder / "pack")
    for place in ("vera_mh_demo.resources_servers.vera_mh", "vera_mh_demo_agent.responses_api_agents.vera_mh_agent"):
        assert gym(*DEMO, f"{place}.pack=pack", "--overwrite", "--limit", "1").code == 0
        rubric = gym.folder / "pack" / "rubric.tsv"
        content = rubric.read_bytes()
        rubric.write_bytes(content.replace(b"?", b"!", 1))
        said = gym.refuses(*DEMO, f"{place}.pack=pack", "--overwrite", "--limit", "1")
        assert f"{rubric} is not the pinned file" in said
        assert "SHA-256 found" in said
        assert "SHA-256 expected" in said
        rubric.write_bytes(content)


def test_an_output_that_cannot_be_written_is_named(gym: Gym):
    gym.put("file", "")
    said = gym.refuses("eval", "run", "--benchmark", "vera_mh_demo", "--output", "file/results/x.jsonl")
    assert "file/results cannot be written" in said
    assert "choose another --output" in said


def test_an_output_that_is_there_is_left_as_it_is_with_the_ways_to_go_on(gym: Gym, sums: SumsRoot):
    assert gym(*sums_run()).code == 0
    said = gym.refuses(*sums_run())
    assert "results/x.jsonl is already there" in said
    assert "--resume" in said
    assert "--overwrite" in said
    assert sums.calls() == ["run 0 0", "run 1 0"]


@pytest.mark.parametrize("output", ["results/own.jsonl", "results/../results/own.jsonl"])
@pytest.mark.parametrize("words", [("--overwrite",), ("--resume",), ()])
def test_rows_are_never_replaced_by_the_rollouts_of_them(gym: Gym, sums: SumsRoot, output: str, words: tuple[str, ...]):
    own = gym.put("results/own.jsonl", json.dumps(sum_row(1)) + "\n")
    said = gym.refuses("eval", "run", *SUMS, "--input", own, "--output", output, *words)
    assert "own.jsonl is one of the files that are read" in said
    assert "rows.jsonl is one of the files that are read" in gym.refuses("eval", "run", *SUMS, "--output", sums.rows, *words)


def test_rows_that_lie_where_another_file_of_the_run_would_are_not_replaced_but_gone_on_with(gym: Gym, sums: SumsRoot):
    run = ("eval", "run", *SUMS, "--output", "results/x.jsonl")
    assert gym(*run).code == 0
    again = (*run, "--input", "results/x_materialized_inputs.jsonl")
    assert "x_materialized_inputs.jsonl is one of the files that are read" in gym.refuses(*again, "--overwrite")
    assert gym(*again, "--resume").code == 0


def test_going_on_with_another_model_is_refused_and_the_difference_named(gym: Gym):
    assert gym(*DEMO, "--limit", "1", "--model", "careful").code == 0
    said = gym.refuses(*DEMO, "--limit", "1", "--model", "careless", "--resume")
    assert "servers.policy_model.settings.model was 'careful', now 'careless'" in said


# Endpoints that are not there or fail


def demo_at(url: str) -> tuple[str, ...]:
    """The demo with a chatbot behind an endpoint."""
    attempts = "++policy_model.responses_api_models.inference_provider.max_attempts=1"
    return (*DEMO, "--model-type", "inference_provider", SWAP, attempts, *MODEL_FLAGS, url)


def test_an_endpoint_where_nobody_answers_is_named_before_anything_is_run(gym: Gym):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # Bound and not listening: nobody else takes the port, and nobody answers.
        port = listener.getsockname()[1]
        said = gym.refuses(*demo_at(f"http://127.0.0.1:{port}/v1"))
    assert "policy_model: " in said
    assert f"127.0.0.1:{port}" in said
    assert KEY not in said


def test_an_endpoint_that_fails_ends_in_the_failures_file_with_the_first_failure_told(gym: Gym):
    with endpoint_process(faults=[Fault(kind="status", status=401)]) as url:
        said = gym(*demo_at(url))
    assert said.code == 1
    assert "Traceback" not in said.err
    assert said.err.count("first failure: ") == 1
    assert "vera_mh_simulation_failed at provider_turn_2: policy_model: " in said.err
    assert said.out.startswith("INCOMPLETE: 8 of 8 rollouts have no score.\n  8 failed as vera_mh_simulation_failed\n")
    assert "0 of 8 rollouts scored, 8 failed." in said.out
    assert "run the same command with --resume" in said.out
    failures = read_jsonl(gym.folder / "results" / "x_failures.jsonl")
    assert {(row["failure_stage"], row["_ng_attempt_index"]) for row in failures} == {("provider_turn_2", 0)}
    assert len(failures) == 8
    assert (gym.folder / "results" / "x.jsonl").read_bytes() == b""
    assert KEY.encode() not in b"".join(snapshot(gym.folder).values())
    assert KEY not in said.out + said.err


# Components of one's own


def test_a_benchmark_of_ones_own_runs_without_a_word_about_vera_mh(gym: Gym, sums: SumsRoot):
    said = gym(*sums_run("--num-repeats", "2", "--temperature", "0.5"))
    assert said.code == 0
    assert said.err == "4 rollouts with sums, 4 at once -> results/x.jsonl\n"
    assert "mean/reward" in said.out
    assert "4 of 4 rollouts scored, 0 failed." in said.out
    assert "VERA" not in said.out
    rows = read_jsonl(gym.folder / "results" / "x.jsonl")
    assert [row["responses_create_params"] for row in rows] == [{"input": [], "temperature": 0.5}] * 4


def test_a_run_with_failures_says_first_that_it_is_incomplete_and_a_resume_makes_it_whole(gym: Gym, sums: SumsRoot):
    sums.write([sum_row(1), sum_row(2, "brackets", "scored")])
    said = gym(*sums_run())
    assert said.code == 1
    assert said.out.startswith("INCOMPLETE: 1 of 2 rollouts has no score.\n  1 failed as sum_failed\n")
    assert "sum_failed: unexpected [/INST] in [bold]the prompt[/] :warning:\n" in said.err
    said = gym(*sums_run("--resume"))
    assert said.code == 0
    assert "INCOMPLETE" not in said.out
    assert "2 of 2 rollouts scored, 0 failed." in said.out
    assert gym(*sums_run("--resume")).code == 0
    assert sums.calls() == ["run 0 0", "run 1 0", "run 1 0"]


def test_an_output_whose_name_has_brackets_is_told_as_it_is(gym: Gym, sums: SumsRoot):
    said = gym("eval", "run", "--search-dir", "root", "--benchmark", "sums", "--output", "results/[/a] [b].jsonl")
    assert said.code == 0
    assert "-> results/[/a] [b].jsonl\n" in said.err


def test_a_setting_of_the_evaluated_model_can_be_overridden_without_naming_its_type(gym: Gym, monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(name, "unused")
    place = "policy_model.responses_api_models.inference_provider"
    words = ("env", "resolve", "--benchmark", "vera_mh", *MODEL_FLAGS, "http://127.0.0.1:9/v1")
    said = gym(*words, f"{place}.request_timeout_seconds=1200", f"+{place}.extra_body.top_k=5")
    assert said.code == 0, said.err
    assert "request_timeout_seconds: 1200" in said.out
    assert "top_k: 5" in said.out


def test_rows_that_were_rated_by_two_measures_in_one_run_are_said_to_be_mixed_and_the_run_is_no_success(gym: Gym, sums: SumsRoot):
    sums.write([sum_row(1, rater="one"), sum_row(2, rater="two")])
    said = gym(*sums_run())
    assert said.code == 1
    assert "MIXED: `rater` is not the same in all rows: one, two" in said.out
    assert "next: judge all of it again by one measure" in said.out
    assert measure(gym, "x") == {"rater": ["one", "two"]}
    files = ("--input-glob", "results/x.jsonl", "--output", "results/all.jsonl")
    again = gym("eval", "aggregate", "--search-dir", sums.path, *files)
    assert again.code == 1, again.err
    assert measure(gym, "all") == {"rater": ["one", "two"]}


def test_the_metrics_say_what_the_rows_were_rated_by(gym: Gym, sums: SumsRoot):
    sums.write([sum_row(1, rater="one"), sum_row(2, rater="one")])
    assert gym(*sums_run()).code == 0
    assert measure(gym, "x") == {"rater": "one"}


def measure(gym: Gym, name: str) -> object:
    (entry,) = json.loads((gym.folder / f"results/{name}_aggregate_metrics.json").read_bytes())
    return entry["measure"]


def test_control_characters_of_an_endpoint_do_nothing_to_the_terminal(gym: Gym):
    body = '{"error": {"message": "gone\\u001b[2J\\r\\n200 of 200 rollouts scored"}}'
    with endpoint_process(faults=[Fault(kind="status", status=400, body=body)]) as url:
        said = gym(*demo_at(url))
    assert said.code == 1
    assert "gone" in said.err
    assert "\x1b" not in said.err
    assert not [line for line in said.err.splitlines() if line.startswith("200 of 200")]
