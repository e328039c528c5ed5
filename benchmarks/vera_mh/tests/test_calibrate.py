# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym tool vera_mh calibrate`, on the example rollouts and with a stand-in for upstream's checkout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_host.cli.main import main as gym
from tests.support.components import snapshot
from tests.support.demo import PACK_FOLDER
from tests.support.upstream import commit, stand_in
from vera_mh.pack import VERA_MH

Json = dict[str, Any]

ROLLOUTS = Path(__file__).parents[3] / "resources_servers/vera_mh/data/example_rollouts.jsonl"
PRIYA = "vera_mh_example__Priya__gpt-5.2"
LENIENT = "answers that upstream's model would not have read as they stood"
LIVE = ["--judge-url", "http://127.0.0.1:9/v1", "--judge-api-key", "a-secret"]


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    return stand_in(tmp_path / "upstream")


class Calibration:
    """The tool on a run, with what it printed and wrote."""

    def __init__(self, upstream: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.upstream, self.rollouts, self.output = upstream, folder / "run.jsonl", folder / "run_calibration.json"
        self.rollouts.write_bytes(ROLLOUTS.read_bytes())
        self.python = sys.executable
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        paths = ["--upstream", str(self.upstream), "--python", self.python, "--rollouts", str(self.rollouts)]
        code = gym(["tool", "vera_mh", "calibrate", *paths, "--pack", str(PACK_FOLDER), *words])
        return (code, *self._capsys.readouterr())

    def refuses(self, *words: str) -> str:
        """What it says in a few lines; no file is written."""
        before = snapshot(self.rollouts.parent)
        code, out, err = self(*words)
        assert (code, out) == (2, ""), err
        assert "Traceback" not in err.splitlines()[0]
        assert snapshot(self.rollouts.parent) == before
        return err

    @property
    def controls(self) -> Json:
        controls: Json = json.loads(self.output.read_bytes())["controls"]
        return controls

    def change_row(self, change: Callable[[Json], None]) -> None:
        """Changes the run's last row."""
        rows = [json.loads(line) for line in self.rollouts.read_bytes().splitlines()]
        change(rows[-1])
        self.rollouts.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def change_upstream(self, file: str, old: str, new: str) -> None:
        path = self.upstream / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))


@pytest.fixture
def calibrate(upstream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Calibration:
    return Calibration(upstream, tmp_path, capsys)


def test_a_run_that_upstream_agrees_with_passes_and_says_what_was_compared(calibrate: Calibration):
    before = snapshot(calibrate.upstream)
    code, out, _ = calibrate()
    assert code == 0, out
    assert {name: (control["agrees"], control["compared"]) for name, control in calibrate.controls.items()} == {
        "materialization": (
            True,
            {"conversations": 5, "turns": 47, "persona prompts": 5, "message lists": 47, "transcripts": 5},
        ),
        "replay": (True, {"conversations": 5, "judge answers": 25, "dimensions": 25, LENIENT: 0}),
        "score": (True, {"conversations": 5, "numbers": 97}),
    }
    assert "replay: 5 conversations, 25 judge answers" in out
    assert "It says nothing of the chatbot." in out
    assert snapshot(calibrate.upstream) == before, "nothing is written into the checkout"


def test_only_the_controls_that_are_named_are_run(calibrate: Calibration):
    assert calibrate("--controls", "score")[0] == 0
    assert list(calibrate.controls) == ["score"]


def test_a_rating_that_the_judge_did_not_give_is_named_with_both_values(calibrate: Calibration):
    calibrate.change_row(lambda row: row["ratings"].update({"Confirms Risk": "Best Practice"}))
    code, out, _ = calibrate("--controls", "replay")
    assert code == 1
    assert f"replay: {PRIYA}: ratings/Confirms Risk: ours 'Best Practice', upstream's 'High Potential for Harm'" in out
    assert calibrate.controls["replay"]["mismatches"] == [
        {
            "conversation": PRIYA,
            "field": "ratings/Confirms Risk",
            "ours": "Best Practice",
            "upstream": "High Potential for Harm",
        }
    ]


def test_a_question_that_decided_and_a_path_that_differ_are_named(calibrate: Calibration):
    def change(row: Json) -> None:
        row["yes_question_ids"]["Confirms Risk"] = "99"
        row["question_path"][0]["raw_answer"] = "Perhaps"
        row["question_path"].append(row["question_path"][-1] | {"question_id": "100"})

    calibrate.change_row(change)
    assert calibrate("--controls", "replay")[0] == 1
    fields = {mismatch["field"] for mismatch in calibrate.controls["replay"]["mismatches"]}
    assert fields == {"yes_question_ids/Confirms Risk", "question 1: raw_answer", "questions asked"}


def test_prompts_that_are_not_those_of_the_run_are_named(calibrate: Calibration):
    calibrate.change_upstream("data/question_prompt.txt", "{question}", "Now: {question}")
    code, _, err = calibrate("--controls", "replay")
    assert code == 1
    assert "not the files of the pack vera-mh-demo: data/question_prompt.txt; expect differences" in err
    mismatches = calibrate.controls["replay"]["mismatches"]
    assert {(mismatch["conversation"], mismatch["field"]) for mismatch in mismatches} >= {(PRIYA, "prompt 1")}
    assert "Now: " in next(mismatch["upstream"] for mismatch in mismatches if mismatch["field"] == "prompt 1")


def test_an_answer_that_is_read_leniently_is_counted_and_the_verdict_still_held(calibrate: Calibration):
    def change(row: Json) -> None:
        receipt = row["judge_receipts"][0]
        receipt["content"] = f"```json\n{receipt['content']}\n```"

    calibrate.change_row(change)
    assert calibrate("--controls", "replay")[0] == 0
    assert calibrate.controls["replay"]["compared"] == {
        "conversations": 5,
        "judge answers": 25,
        "dimensions": 25,
        LENIENT: 1,
    }


def test_a_conversation_that_upstream_would_have_had_otherwise_is_named_turn_by_turn(calibrate: Calibration):
    def change(row: Json) -> None:
        row["persona_system_prompt"] += " More."
        row["conversation"][1]["input"] = "Something else"
        row["transcript"] += "\n"
        row["simulation"]["max_turns_requested"] = 4

    calibrate.change_row(change)
    assert calibrate("--controls", "materialization")[0] == 1
    fields = [mismatch["field"] for mismatch in calibrate.controls["materialization"]["mismatches"]]
    assert fields[:3] == ["persona_system_prompt", "number of turns", "turn 2: input"]
    assert fields[-2:] == ["transcript", "transcript (rendered anew)"]


def test_a_conversation_that_upstream_would_have_gone_on_with_is_named(calibrate: Calibration):
    calibrate.change_upstream("generate_conversations/conversation_simulator.py", "if ended:", "if False:")
    assert calibrate("--controls", "materialization")[0] == 1
    fields = {mismatch["field"] for mismatch in calibrate.controls["materialization"]["mismatches"]}
    assert "end of the conversation" in fields


def test_messages_that_a_side_would_not_have_seen_are_named(calibrate: Calibration):
    calibrate.change_upstream("data/persona_prompt_reminder.txt", "\n", " Be brief.\n")
    code, out, _ = calibrate("--controls", "materialization")
    assert code == 1
    assert "messages before turn 3: ours ..." in out
    assert "Be brief." in out
    assert "materialization: and " in out, "the table shows the first few"


def test_scores_that_differ_are_named(calibrate: Calibration):
    calibrate.change_upstream(
        "judge/score.py", "    return upstream_scores(rows, dimensions)", "    return upstream_scores([], dimensions)"
    )
    code, out, _ = calibrate("--controls", "score")
    assert code == 1
    assert "score: summary.total_conversations: ours 5, upstream's 0" in out


def test_metrics_that_are_not_those_of_the_rows_are_named(calibrate: Calibration):
    metrics = {"vera_score": 99.0, "vera_score/ci95_low": 1.0, "total_count/dimension/Confirms Risk": 1}
    path = calibrate.rollouts.with_name("run_aggregate_metrics.json")
    path.write_text(json.dumps([{"agent_metrics": metrics}]))
    code, out, _ = calibrate("--controls", "score")
    assert code == 1
    assert "score: metrics file: vera_score: ours 99.0, upstream's " in out
    fields = {mismatch["field"] for mismatch in calibrate.controls["score"]["mismatches"]}
    assert "metrics file: total_conversations" in fields, "one that is absent is named too"
    assert not fields & {"metrics file: total_count/dimension/Confirms Risk", "metrics file: vera_score/ci95_low"}
    path.write_text("[")
    assert "run_aggregate_metrics.json is no metrics file of a run" in calibrate("--controls", "score", "--overwrite")[2]


def test_a_refusal_of_upstreams_is_a_difference_and_the_others_are_still_compared(calibrate: Calibration):
    refusal = "if conversation.content.count('user:') == 6: raise ValueError('too long')"
    calibrate.change_upstream("judge/llm_judge.py", "        verdict =", f"        {refusal}\n        verdict =")
    assert calibrate("--controls", "replay")[0] == 1
    control = calibrate.controls["replay"]
    assert [mismatch["upstream"] for mismatch in control["mismatches"]] == ["ValueError: too long"]
    assert control["compared"]["conversations"] == 4


def test_a_checkout_of_unknown_or_other_commit_is_warned_of(calibrate: Calibration):
    assert f"upstream's commit is unknown, and the pinned one is {VERA_MH.revision}" in calibrate("--controls", "score")[2]
    found = commit(calibrate.upstream)
    assert "changed files" not in calibrate("--controls", "score", "--overwrite")[2]
    calibrate.change_upstream("judge/score.py", "import csv", "import csv  # changed")
    _, out, err = calibrate("--controls", "score", "--overwrite")
    assert f"upstream's commit is {found}, and the pinned one is {VERA_MH.revision}" in err
    assert "the checkout has changed files: judge/score.py" in err
    assert f"upstream at {found}" in out
    assert json.loads(calibrate.output.read_bytes())["upstream"]["changed_files"] == ["judge/score.py"]


def test_a_folder_that_is_no_checkout_is_the_users_to_mend(calibrate: Calibration, tmp_path: Path):
    calibrate.upstream = tmp_path / "nowhere"
    err = calibrate.refuses()
    assert "nowhere is no checkout of VERA-MH: there is no such folder" in err
    assert "where: --upstream" in err
    assert "to mend it: git clone" in err
    calibrate.upstream = PACK_FOLDER
    assert "it has no judge, generate_conversations, llm_clients, data/rubric.tsv" in calibrate.refuses()


def test_an_interpreter_that_cannot_be_run_is_the_users_to_mend(calibrate: Calibration, tmp_path: Path):
    calibrate.python = str(tmp_path / "python")
    err = calibrate.refuses()
    assert "python cannot be run: " in err
    assert "where: --python" in err
    assert "to mend it: name the Python" in err


def test_a_package_that_upstream_lacks_is_named(calibrate: Calibration):
    calibrate.change_upstream("judge/score.py", "import csv", "import a_package_that_is_missing")
    before = snapshot(calibrate.rollouts.parent)
    code, out, err = calibrate("--controls", "score")
    assert (code, out, snapshot(calibrate.rollouts.parent)) == (2, "", before)
    assert "error: upstream cannot be imported: ModuleNotFoundError: No module named 'a_package_that_is_missing'" in err
    assert "to mend it: install" in err


def test_a_process_that_ends_in_the_middle_is_told_with_its_last_words(calibrate: Calibration):
    calibrate.change_upstream(
        "judge/llm_judge.py",
        "        verdict =",
        '        import os; print("farewell", flush=True); os._exit(7)\n        verdict =',
    )
    code, _, err = calibrate("--controls", "replay")
    assert code == 2
    assert "upstream's process ended, or said what is no answer:" in err
    assert "farewell" in err
    assert not calibrate.output.exists()


def test_what_is_there_is_replaced_only_if_that_is_said(calibrate: Calibration):
    calibrate.output.write_text("mine")
    assert "run_calibration.json is already there" in calibrate.refuses()
    assert calibrate("--controls", "score", "--overwrite")[0] == 0
    assert list(calibrate.controls) == ["score"]


def test_no_file_of_the_run_is_replaced_whatever_is_said(calibrate: Calibration):
    record = calibrate.rollouts.with_name("run_run.json")
    record.write_text("{}")
    assert "is a file of the run" in calibrate.refuses("--output", str(record), "--overwrite")


def test_two_runs_of_one_folder_have_a_file_each(calibrate: Calibration):
    assert calibrate("--controls", "score")[0] == 0
    calibrate.rollouts = calibrate.rollouts.rename(calibrate.rollouts.with_name("other.jsonl"))
    assert calibrate("--controls", "score")[0] == 0
    assert {path.name for path in calibrate.rollouts.parent.glob("*.json")} == {"run_calibration.json", "other_calibration.json"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--controls", "scores"], "did you mean `score`?"),
        (["--controls", ","], "there is no control ``"),
        (["--controls", "live", "--judge-api-key", "k"], "the control `live` needs --judge-url and --judge-model"),
        (["--pack", "vera_mh_v1.2"], "VERA_MH_PACK"),
    ],
)
def test_words_that_do_not_fit_are_the_users_to_mend(calibrate: Calibration, words, told, monkeypatch, tmp_path):
    monkeypatch.setenv("VERA_MH_PACK", str(tmp_path / "no-pack"))
    assert told in calibrate.refuses(*words)


def test_a_run_of_another_pack_or_without_receipts_is_refused(calibrate: Calibration):
    calibrate.change_row(lambda row: row.update(judge_receipts=None))
    assert f"{PRIYA} in {calibrate.rollouts} has no judge_receipts" in calibrate.refuses()
    calibrate.change_row(lambda row: row.update(judge_receipts=[], pack="other", pack_sha256="0"))
    assert "the run was scored with the pack other, and not with vera-mh-demo" in calibrate.refuses()
    calibrate.rollouts.write_bytes(b"")
    assert "has no scored rows" in calibrate.refuses()


def test_the_live_control_tells_how_often_both_judges_agree_and_decides_nothing(calibrate: Calibration):
    code, out, _ = calibrate("--controls", "live", *LIVE, "--judge-model", "gpt-5.4", "--live-sample", "4")
    assert code == 0
    live = calibrate.controls["live"]
    assert (live["exact"], live["judged"], len(live["failed"])) == (False, 3, 1)
    assert live["agreement"]["Detects Potential Risk"]["n"] == 3
    assert "live: upstream's judge judged 3 of 4 conversations" in out
    assert live["mismatches"]
    assert "a-secret" not in calibrate.output.read_text()


def test_a_judge_of_upstreams_that_judges_nothing_is_told_in_its_words(calibrate: Calibration):
    err = calibrate("--controls", "live", *LIVE, "--judge-model", "other")[2]
    assert "Unsupported model: other" in err
    assert "where: --judge-url, --judge-model and --judge-extra-params" in err


def test_a_key_that_upstreams_judge_repeats_is_not_repeated(calibrate: Calibration):
    said = 'print(os.environ["OPENAI_API_KEY"], "http://me:my-password@host/v1"); sys.exit('
    calibrate.change_upstream("judge.py", "sys.exit(", said)
    err = calibrate("--controls", "live", *LIVE, "--judge-model", "other")[2]
    assert "**** http://****@host/v1" in err
    assert "a-secret" not in err
    assert "my-password" not in err


@pytest.mark.parametrize(
    "saying", ['print(os.environ["MY_API_KEY"], flush=True); os._exit(7)', 'raise ValueError(os.environ["MY_API_KEY"])']
)
def test_a_key_of_the_environment_that_upstream_repeats_is_not_repeated(calibrate: Calibration, monkeypatch, saying: str):
    monkeypatch.setenv("MY_API_KEY", "a-secret-of-mine")
    calibrate.change_upstream("judge/score.py", "import csv", f"import os; {saying}")
    code, _, err = calibrate("--controls", "score")
    assert (code, "****" in err, "a-secret" in err) == (2, True, False)
