# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the verifier brings along to show its runs, over the example rollouts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_host.errors import UserError
from gym_host.runs.stored_run import StoredRun, open_run
from resources_servers.vera_mh import views
from vera_mh.metrics import compute_metrics
from vera_mh.views.summary import summarize

ROLLOUTS = Path(__file__).parents[1] / "data/example_rollouts.jsonl"


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    """The example rollouts as a run, one of them failed."""
    first, *rest = [json.loads(line) for line in ROLLOUTS.read_bytes().splitlines()]
    failed = {key: value for key, value in first.items() if key not in ("ratings", "judge_receipts", "question_path")}
    failed |= {"_ng_failure_class": "judge_failed", "error": "no answer"}
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rest))
    (tmp_path / "x_failures.jsonl").write_text(f"{json.dumps(failed)}\n")
    return open_run(tmp_path / "x.jsonl")


def test_the_overview_is_of_the_scored_rows(run: StoredRun):
    overview = views.overview(run)
    assert overview["tables"][0] == summarize(compute_metrics(run.rows()))["tables"][0]
    assert overview["measure"]["judge_model"] == list({row["judge_model"] for row in run.rows()})


def test_the_list_holds_failed_conversations_too_each_in_its_place(run: StoredRun):
    listing = views.conversations(run)
    keys = [entry["key"] for entry in listing["entries"]]
    assert keys == sorted([*run.keys(), *run.failures])
    assert listing["entries"][0]["cells"][4] == "judge_failed"
    assert all(len(entry["cells"]) == len(listing["columns"]) for entry in listing["entries"])


def test_samples_are_all_conversations_the_failed_ones_with_their_error(run: StoredRun):
    samples = list(views.samples(run))
    assert len(samples) == len(run) + 1
    assert [sample["error"] for sample in samples if sample["error"]] == ["judge_failed: no answer"]


def test_the_meter_counts_what_the_rows_tell(run: StoredRun):
    meter = views.meter(run.record)
    for row in run.rows():
        meter.add(row)
    assert {entry.role for entry in meter.by_role()} == {"persona", "provider", "judge"}


def test_a_page_and_the_results_are_those_of_the_library(run: StoredRun):
    row = next(run.rows())
    assert views.page(row)["title"].startswith(row["persona_name"])
    assert "vera_score" in next(iter(views.results(compute_metrics(run.rows())).values()))


@pytest.mark.parametrize("broken", [{"ratings": None}, {"ratings": {"Risk": "superb"}}, {"turn_count": "many"}])
def test_a_row_that_nobody_judged_is_told_by_every_view_that_counts_with_what_to_do(tmp_path: Path, broken: dict[str, object]):
    first, *rest = [json.loads(line) for line in ROLLOUTS.read_bytes().splitlines()]
    (tmp_path / "x.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in (first | broken, *rest)))
    run = open_run(tmp_path / "x.jsonl")
    compared = views.comparison(run, run, {"pairs": [], "tables": [], "notes": []})
    for view in (
        lambda: views.overview(run),
        lambda: list(views.samples(run)),
        lambda: list(views.report(run)),
        lambda: list(compared),
    ):
        with pytest.raises(UserError, match="a conversation cannot be counted") as caught:
            view()
        assert "x.jsonl" in str(caught.value.where)
        assert "judge them first: gym eval reverify --benchmark NAME --inputs " in str(caught.value.mend)
    assert len(views.conversations(run)["entries"]) == len(rest) + 1


def test_of_two_runs_the_one_with_the_row_that_nobody_judged_is_told(tmp_path: Path):
    first, *rest = [json.loads(line) for line in ROLLOUTS.read_bytes().splitlines()]
    for name, rows in (("base", [first, *rest]), ("other run", [first | {"ratings": None}, *rest])):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    base, other = (open_run(tmp_path / f"{name}.jsonl") for name in ("base", "other run"))
    with pytest.raises(UserError, match=r"\(repeat 0\)\.ratings: missing") as caught:
        list(views.comparison(base, other, {"pairs": [], "tables": [], "notes": []}))
    assert caught.value.where == str(other.path)
    assert f"--rollouts '{other.path}' --output FILE" in str(caught.value.mend)
