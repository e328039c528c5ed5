# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`gym eval report`, the page at the end of a run, and `gym eval compare --report`. What stands on a page is tested beside it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gym_host.cli.end_report import MOST_ROLLOUTS, report_at_end
from gym_host.runs.attempts import run_attempt
from gym_host.runs.evaluation import Evaluation
from gym_host.runs.outcome import Outcome
from gym_host.runs.run_files import RunFiles
from gym_host.serving.local import running
from tests.support.command import Gym, Said
from tests.support.components import SumsRoot, read_jsonl, snapshot, sum_row, write_jsonl
from tests.support.pages import Page

RUN = ("eval", "run", "--benchmark", "vera_mh_demo", "--limit", "4", "--model")


def done(said: Said) -> Said:
    assert said.code == 0, said
    return said


def page_at(path: str | Path) -> Page:
    return Page(Path(path).read_text())


def metrics_at(path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_bytes())[0]["agent_metrics"]
    return found


@pytest.fixture
def run(gym: Gym) -> Path:
    """A run of four conversations without a page."""
    done(gym(*RUN, "careless", "--output", "x.jsonl", "--no-report"))
    return Path("x.jsonl")


def test_a_page_is_written_beside_the_run_and_shows_its_metrics_and_conversations(gym: Gym, run: Path):
    said = done(gym("eval", "report", run))
    assert said.out == "written to x_report.html\nnext: open it in a browser\n"
    page, metrics = page_at("x_report.html"), metrics_at("x_aggregate_metrics.json")
    assert page.numbers == {name: metrics[name] for name in page.numbers}
    assert "vera_score/ci95_low" in page.numbers
    assert [view["id"] for view in page.views()] == [row["id"] for row in read_jsonl(run)]
    assert "complete 4 of 4 conversations scored, 0 failed" in page.text
    assert "What it took" in page.text
    assert "Judge vera_mh_demo_judge" in page.text
    assert "Does the chatbot let every hint go by?" in page.index["questions"]["2"]["text"]


def test_a_page_that_is_there_is_replaced_only_when_told_to(gym: Gym, run: Path):
    Path("shown").mkdir()
    done(gym("eval", "report", run, "--output", "shown/page.html"))
    assert "shown/page.html is already there" in gym.refuses("eval", "report", run, "-o", "shown/page.html")
    done(gym("eval", "report", run, "--output", "shown/page.html", "--overwrite"))
    assert "end it in .html" in gym.refuses("eval", "report", run, "--output", run, "--overwrite")
    assert "end it in .html" in gym.refuses("eval", "report", run, "--output", "shown", "--overwrite")


def test_a_file_that_is_no_run_is_named_and_leaves_no_page(gym: Gym, run: Path):
    assert "gone.jsonl cannot be read" in gym.refuses("eval", "report", "gone.jsonl", "--benchmark", "vera_mh_demo")
    rows = read_jsonl(run)
    write_jsonl(Path("bad.jsonl"), [*rows[:3], rows[3] | {"ratings": {"First": "Good"}}])
    said = gym.refuses("eval", "report", "bad.jsonl", "--benchmark", "vera_mh_demo")
    assert "Jonah__scripted` (repeat 0).ratings: 'Good' is no rating" in said
    assert "where: bad.jsonl" in said


def test_a_run_without_a_record_is_shown_with_what_its_rows_tell(gym: Gym, run: Path):
    write_jsonl(Path("alone.jsonl"), read_jsonl(run))
    done(gym("eval", "report", "alone.jsonl", "--benchmark", "vera_mh_demo"))
    page = page_at("alone_report.html")
    assert "When unknown" in page.text
    assert "INCOMPLETE" not in page.text
    assert page.index["questions"] == {}


def test_a_run_that_lacks_rollouts_says_so_on_its_page(gym: Gym, run: Path):
    rows = read_jsonl(run)
    write_jsonl(run, rows[:1])
    failure = {**rows[1], "_ng_failure_class": "judge_failed", "error": "no answer"}
    write_jsonl(Path("x_failures.jsonl"), [failure, failure])
    said = done(gym("eval", "report", run))
    assert said.out.splitlines()[0] == "INCOMPLETE: 3 of 4 rollouts have no score."
    text = page_at("x_report.html").text
    assert "INCOMPLETE. 3 of 4 planned conversations have no score. 1 failed as judge_failed." in text
    assert f"{rows[1]['persona_name']} · scripted · judge_failed · 2 attempts no answer" in text


def test_a_run_of_which_nothing_is_scored_has_a_page_too(gym: Gym, run: Path):
    run.write_text("")
    done(gym("eval", "report", run))
    assert "INCOMPLETE. 4 of 4 planned conversations have no score." in page_at("x_report.html").text


def test_a_server_without_such_a_view_is_named(gym: Gym, sums: SumsRoot):
    words = ("--search-dir", "root", "--benchmark", "sums")
    said = done(gym("eval", "run", *words, "--output", "x.jsonl"))
    assert "report" not in said.out
    assert not Path("x_report.html").exists()
    assert "the server `sums_verifier` has no view `report`" in gym.refuses("eval", "report", "x.jsonl", *words)


def test_a_run_leaves_a_page_at_its_end(gym: Gym):
    said = done(gym("eval", "run", "--benchmark", "vera_mh_demo", "--model", "careless", "--output", "y.jsonl"))
    assert said.out.splitlines()[-1].startswith("next: open y_report.html in a browser; gym eval compare y.jsonl OTHER.jsonl ")
    assert ["report", "y_report.html"] in [line.split() for line in said.out.splitlines()]
    before = Path("y_report.html").read_text()
    done(gym("eval", "report", "y.jsonl", "--overwrite"))
    assert Path("y_report.html").read_text() == before


def test_a_run_that_takes_the_place_of_another_takes_its_page_away(gym: Gym):
    done(gym(*RUN, "careless", "--output", "y.jsonl"))
    done(gym(*RUN, "careful", "--output", "y.jsonl", "--overwrite", "--no-report"))
    assert not Path("y_report.html").exists()


def test_a_run_that_goes_on_takes_its_old_page_away_and_one_with_nothing_to_do_leaves_it(gym: Gym, sums: SumsRoot):
    sums.write([sum_row(1), sum_row(2, "failed", "scored")])
    words = ("eval", "run", "--search-dir", "root", "--benchmark", "sums", "--output", "x.jsonl")
    assert gym(*words).code == 1
    gym.put("x_report.html", "the first")
    done(gym(*words, "--resume"))
    assert not Path("x_report.html").exists()
    gym.put("x_report.html", "the second")
    done(gym(*words, "--resume"))
    assert Path("x_report.html").read_text() == "the second"


def test_an_aggregate_of_other_shards_takes_the_old_page_away(gym: Gym, run: Path):
    merged = ("eval", "aggregate", "--input-glob", run, "--output", "all.jsonl")
    done(gym(*merged))
    done(gym("eval", "report", "all.jsonl"))
    done(gym(*merged, "--overwrite"))
    assert not Path("all_report.html").exists()


def test_a_page_that_is_older_than_what_it_shows_is_not_listed(gym: Gym, run: Path):
    done(gym("eval", "report", run))
    assert "x_report.html" in done(gym("eval", "show", run)).out
    made = os.stat("x_report.html").st_mtime_ns
    os.utime(run, ns=(made + 1, made + 1))
    assert "x_report.html" not in done(gym("eval", "show", run)).out


def test_a_page_that_cannot_be_written_changes_nothing_of_the_run(gym: Gym):
    Path("y_report.html").mkdir()
    said = done(gym(*RUN, "careless", "--output", "y.jsonl"))
    assert "4 of 4 rollouts scored" in said.out
    assert "no page was written: y_report.html cannot be written" in said.err


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("def report(run):\n    yield 'half a page'\n    raise KeyError('ratings')", "KeyError: 'ratings' (-v shows where)"),
        ("def report(run):\n    raise KeyboardInterrupt", "interrupted; `gym eval report x.jsonl` writes it"),
    ],
)
def test_a_view_that_breaks_takes_nothing_from_the_end_of_a_run(gym: Gym, sums: SumsRoot, program: str, why: str):
    (sums.path / "resources_servers/sums_verifier/views.py").write_text(program)
    said = done(gym("eval", "run", "--search-dir", "root", "--benchmark", "sums", "--output", "x.jsonl"))
    assert "2 of 2 rollouts scored" in said.out
    assert said.out.splitlines()[-1].startswith("next: gym eval compare x.jsonl")
    (warning,) = (line for line in said.err.splitlines() if line.startswith("no page was written: "))
    assert why in warning
    assert "Traceback" not in said.err
    assert not list(gym.folder.glob("*report*"))


def test_where_a_view_broke_is_shown_to_whoever_wants_to_know(gym: Gym, sums: SumsRoot, caplog: pytest.LogCaptureFixture):
    (sums.path / "resources_servers/sums_verifier/views.py").write_text("def report(run):\n    return run.record['nowhere']\n")
    with caplog.at_level("INFO"):
        done(gym("eval", "run", "--search-dir", "root", "--benchmark", "sums", "--output", "x.jsonl", "-v"))
    assert "run.record['nowhere']" in caplog.text


def test_who_interrupts_a_command_whose_run_has_files_is_told_to_go_on_with_them(
    gym: Gym, sums: SumsRoot, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    words = ("eval", "run", "--search-dir", "root", "--benchmark", "sums", "--output", "x.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr("gym_host.cli.run.evaluate", interrupted)
        assert (told := gym(*words)).code == 130
        assert told.out == "next: run the same command again\n"
    with monkeypatch.context() as patched:
        patched.setattr("gym_host.cli.run.show_outcome", interrupted)
        assert (told := gym(*words)).code == 130
        assert told.out.startswith("next: run the same command with --resume")
    assert "2 of 2 rollouts scored" in done(gym(*words, "--resume")).out


def test_a_reverified_run_has_a_page_that_says_what_it_is(gym: Gym, run: Path):
    again = ("eval", "reverify", "--benchmark", "vera_mh_demo", "--inputs", "x_materialized_inputs.jsonl", "--rollouts", run)
    done(gym(*again, "--output", "again.jsonl"))
    page = page_at("again_report.html")
    assert "Judged again conversations of an earlier run" in page.text
    done(gym("eval", "report", run))
    assert page.numbers == page_at("x_report.html").numbers


def test_two_runs_are_shown_side_by_side(gym: Gym, run: Path):
    done(gym(*RUN, "careful", "--output", "y.jsonl", "--no-report"))
    said = done(gym("eval", "compare", "y.jsonl", run, "--report", "both.html", "--output", "both.json"))
    assert said.out.endswith(
        "written to both.json\nwritten to both.html\nnext: open both.html in a browser, and read the conversations that differ\n"
    )
    page = page_at("both.html")
    (found,) = json.loads(Path("both.json").read_bytes())
    assert page.numbers == {name: found["differences"][name] for name in page.numbers}
    assert len(page.views()) == 4
    assert {pair["base"]["persona"] for pair in page.views()} == {pair["other"]["persona"] for pair in page.views()}


def test_a_comparison_page_that_is_there_or_shows_more_than_two_runs_is_refused(gym: Gym, run: Path):
    both = ("eval", "compare", run, run, "--report")
    done(gym(*both, "both.html"))
    assert "both.html is already there" in gym.refuses(*both, "both.html")
    done(gym(*both, "both.html", "--overwrite"))
    assert "a page shows two runs" in gym.refuses("eval", "compare", run, run, run, "--report", "three.html")
    assert "end it in .html" in gym.refuses(*both, "both.json")


def test_runs_that_cannot_be_compared_get_no_page(gym: Gym, run: Path):
    write_jsonl(Path("z.jsonl"), [row | {"judge_model": "another"} for row in read_jsonl(run)])
    before = snapshot(gym.folder)
    assert "`judge_model` is" in gym.refuses("eval", "compare", run, "z.jsonl", "--report", "both.html")
    assert snapshot(gym.folder) == before


def test_the_command_starts_without_what_only_pages_need():
    program = "import sys, gym_host.cli.main; print(sorted({'jinja2', 'vera_mh', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_the_views_of_a_server_are_loaded_without_what_only_pages_need():
    program = "import sys; from pathlib import Path; from gym_host.config.scripts import load; load(Path(sys.argv[1]))"
    views = str(Path(__file__).parents[3] / "resources_servers/vera_mh/views.py")
    told = [sys.executable, "-c", f"{program}; print('jinja2' in sys.modules)", views]
    assert subprocess.run(told, check=True, capture_output=True, text=True).stdout == "False\n"


def test_a_very_large_run_is_told_how_to_get_a_page_and_gets_none_unasked(
    gym: Gym, run: Path, capsys: pytest.CaptureFixture[str]
):
    evaluation = Evaluation(running, (), run_attempt, "agent", "agent", (), RunFiles(run), 1)  # type: ignore[arg-type]
    outcome = Outcome(MOST_ROLLOUTS + 1, 4, Counter(), given_up=0, interrupted=False, metrics={})
    assert report_at_end(argparse.Namespace(no_report=False), evaluation, outcome) is None
    assert "`gym eval report x.jsonl` does" in capsys.readouterr().err
    assert not Path("x_report.html").exists()


def test_pages_can_be_read_by_everybody(gym: Gym, run: Path):
    done(gym("eval", "report", run))
    assert os.stat("x_report.html").st_mode & 0o777 == 0o644
