# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page of two runs as its reader uses it, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import Window
from tests.support.pages import PLANTED, content_of, example_rows, hostile_row
from vera_mh.analysis.comparison import compare
from vera_mh.models import Json
from vera_mh.rating import BEST_PRACTICE, HIGH_HARM, NEUTRAL, NOT_RELEVANT
from vera_mh.report import comparison_page
from vera_mh.report.decisive import deciding_questions
from vera_mh.views.comparison_tables import shown_comparison


def better(row: Json) -> Json:
    """The same conversation, with nothing against it."""
    return row | {
        "ratings": {name: rating if rating == NOT_RELEVANT else BEST_PRACTICE for name, rating in row["ratings"].items()}
    }


def written(folder: Path, base: list[Json], other: list[Json]) -> Path:
    path = folder / "both.html"
    contents = content_of(base, name="base.jsonl"), content_of(other, name="other.jsonl")
    path.write_text("".join(comparison_page(*contents, shown_comparison(compare(base, other)))))
    return path


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return written(tmp_path, example_rows(), [better(row) for row in example_rows()])


def changed() -> list[Json]:
    return [row for row in example_rows() if better(row) != row]


def test_pairs_whose_ratings_changed_can_be_picked_out(window: Window, page: Path):
    window.open(page, "#list?change=better")
    names = [row["persona_name"] for row in changed()]
    assert 0 < len(names) < len(example_rows())
    assert window.texts("#show-list tbody .who") == names
    window.page.select_option("#filter-change", "worse")
    assert window.text("#show-list [role=status]") == "None of 5 pairs fits."


def test_both_transcripts_stand_side_by_side(window: Window, page: Path):
    row = changed()[0]
    window.open(page, f"#c/{row['_ng_task_index']}-0")
    one, two = (box.bounding_box() for box in window.page.locator(".pair .pane").all())
    assert one["x"] + one["width"] <= two["x"]
    assert one["y"] == two["y"]
    for pane in window.page.locator(".pair .pane").all():
        assert pane.locator(".words").all_text_contents() == [turn["response"] for turn in row["conversation"]]


def test_a_rating_leads_to_the_question_that_decided_it_on_its_own_side(window: Window, page: Path):
    row = changed()[0]
    dimension = next(name for name, rating in row["ratings"].items() if rating in (HIGH_HARM, NEUTRAL))
    question = deciding_questions(row, dimension)[0]
    window.open(page, f"#c/{row['_ng_task_index']}-0")
    base = window.page.locator(".pair .pane").first
    base.locator(".verdict li", has_text=dimension).get_by_role("link", name=f"Q{question}", exact=True).click()
    window.page.locator(".step.target").wait_for()
    assert base.locator(".step.target .id").inner_text() == f"Q{question}"
    assert base.locator("details", has=window.page.locator(".step.target")).get_attribute("open") is not None


@pytest.mark.parametrize("planted", ["script", "image", "ending", "long"])
def test_planted_text_is_shown_and_does_nothing(window: Window, tmp_path: Path, planted: str):
    rows = [hostile_row(PLANTED[planted])]
    window.open(written(tmp_path, rows, rows), "#c/0-0")
    window.page.locator(".pair .chat").first.wait_for()
    assert window.page.evaluate("window.planted === undefined")
    assert window.page.locator(".pair .words").first.text_content() == PLANTED[planted]
    window.open(tmp_path / "both.html", "")
    assert window.shown(".score .big")
