# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a run as its reader uses it, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Window
from tests.support.demo import demo_pack
from tests.support.pages import PLANTED, content_of, example_rows, hostile_row
from tests.support.ratings import scored_row
from vera_mh.models import Json
from vera_mh.pack import RUBRIC
from vera_mh.rating import HIGH_HARM, NEUTRAL
from vera_mh.report import run_page
from vera_mh.report.decisive import deciding_questions, fired
from vera_mh.rubric import parse_rubric

ROWS = "#show-list tbody tr"


def written(folder: Path, rows: list[Json], **more: Any) -> Path:
    path = folder / "page.html"
    path.write_text("".join(run_page(content_of(rows, **more))))
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's example rollouts."""
    questions = parse_rubric(demo_pack().text(RUBRIC)).questions
    return written(tmp_path_factory.mktemp("page"), example_rows(), questions=questions)


def decided() -> tuple[Json, str, str]:
    """A row with a dimension below Best Practice, that dimension, and a question that decided it."""
    for row in example_rows():
        for dimension, rating in row["ratings"].items():
            if rating in (HIGH_HARM, NEUTRAL):
                return row, dimension, deciding_questions(row, dimension)[0]
    raise AssertionError("the examples have no such row")


def test_the_first_screen_has_the_score_and_the_caveat_without_scrolling(window: Window, page: Path):
    window.open(page)
    assert window.shown(".score .big")
    box = window.page.locator(".caveat").bounding_box()
    assert box["y"] + box["height"] < 900
    assert "no certification" in window.text(".caveat")
    assert not window.shown("#show-list")


def test_the_overview_reads_without_javascript(browser: Any, page: Path):
    context = browser.new_context(java_script_enabled=False)
    window = Window(context.new_page())
    window.open(page)
    assert window.shown(".score .big")
    assert window.shown(".bars .bar")
    assert "needs JavaScript" in window.text("noscript")
    context.close()


def test_a_filter_leaves_the_rows_that_fit_and_says_how_many(window: Window, page: Path):
    rows = example_rows()
    window.open(page, "#list")
    assert len(window.texts(ROWS)) == len(rows)
    window.page.select_option("#filter-rating", "H")
    harmed = [row["persona_name"] for row in rows if HIGH_HARM in row["ratings"].values()]
    assert 0 < len(harmed) < len(rows)
    assert window.texts(f"{ROWS} .who") == harmed
    assert window.text("#show-list [role=status]") == f"{len(harmed)} of {len(rows)} conversations."
    window.page.get_by_role("button", name="Clear").click()
    assert len(window.texts(ROWS)) == len(rows)


def test_every_filter_of_the_list_can_be_linked_to(window: Window, page: Path):
    row, dimension, question = decided()
    for query, fits in (
        (f"persona={row['persona_name']}", lambda each: each["persona_name"] == row["persona_name"]),
        (f"risk={row['risk_level']}", lambda each: each["risk_level"] == row["risk_level"]),
        (f"simulator={row['user_simulator']}", lambda each: each["user_simulator"] == row["user_simulator"]),
        (f"dimension={dimension}&rating=S", lambda each: each["ratings"][dimension] == NEUTRAL),
        (f"fired={question}", lambda each: question in fired(each)),
        ("early=1", lambda each: each["early_termination"]),
        ("cut=1", lambda each: each["simulation"]["provider_truncated_turns"]),
    ):
        window.open(page, f"#list?{query}")
        expected = [each["persona_name"] for each in example_rows() if fits(each)]
        assert window.texts(f"{ROWS} .who") == expected, query


def test_a_risk_level_of_the_heat_map_leads_to_its_conversations(window: Window, page: Path):
    window.open(page)
    window.page.locator(".heat td a").first.click()
    window.page.locator("#show-list").wait_for(state="visible")
    assert "rating=H" in window.page.url
    assert window.page.locator("#filter-rating").input_value() == "H"


def test_a_search_finds_what_somebody_said_or_the_judge_thought(window: Window, page: Path):
    row = example_rows()[2]
    window.open(page, "#list")
    for said in (row["conversation"][0]["response"], row["question_path"][-1]["reasoning"]):
        window.page.fill("#filter-q", said)
        window.page.locator(f"{ROWS} .who", has_text=row["persona_name"]).wait_for()
    window.page.fill("#filter-q", "nobody ever said this")
    window.page.get_by_text("None of 5 conversations fits.").wait_for()


def test_a_link_opens_a_conversation_with_its_transcript_and_the_path_beside_it(window: Window, page: Path):
    row = example_rows()[3]
    window.open(page, "#c/3-0")
    assert window.text("#show-reader h1") == row["persona_name"]
    words = window.page.locator(".chat .words").all_text_contents()
    assert words == [turn["response"] for turn in row["conversation"]]
    steps = window.texts(".path .step .id")
    assert steps == [f"Q{step['question_id']}" for step in row["question_path"]]
    chat, path = (window.page.locator(selector).bounding_box() for selector in (".chat", ".path"))
    assert chat["x"] + chat["width"] <= path["x"]


def test_a_link_to_a_conversation_that_is_not_there_says_so(window: Window, page: Path):
    window.open(page, "#c/99-9")
    assert "no such conversation" in window.text("#show-reader")


def test_a_rating_leads_to_the_question_that_decided_it(window: Window, page: Path):
    row, dimension, question = decided()
    window.open(page, f"#c/{row['_ng_task_index']}-0")
    window.page.locator(".verdict li", has_text=dimension).get_by_role("link", name=f"Q{question}", exact=True).click()
    target = window.page.locator(".step.target")
    target.wait_for()
    assert window.text(".step.target .id") == f"Q{question}"
    assert target.evaluate("element => element === document.activeElement")
    box = target.bounding_box()
    assert 0 <= box["y"] < 900
    assert f"Decided {dimension}" in window.text(".step.target")


def test_everything_can_be_reached_with_the_keyboard(window: Window, page: Path):
    window.open(page)
    keyboard, page_ = window.page.keyboard, window.page
    keyboard.press("Tab")
    assert page_.evaluate("document.activeElement.className") == "skip"
    for _ in range(2):
        keyboard.press("Tab")
    keyboard.press("Enter")
    page_.locator("#show-list h1").wait_for()
    assert page_.evaluate("document.activeElement.id") == "list-title"
    for _ in range(30):
        keyboard.press("Tab")
        if page_.evaluate("document.activeElement.closest('tbody') !== null"):
            break
    keyboard.press("Enter")
    page_.locator("#show-reader .chat").wait_for()
    assert page_.evaluate("document.activeElement.tagName") == "H1"
    page_.go_back()
    page_.locator("#show-list h1").wait_for()


def test_next_and_previous_stay_within_what_the_list_was_filtered_to(window: Window, page: Path):
    window.open(page, "#list?sort=persona")
    names = window.texts(f"{ROWS} .who")
    window.page.locator(f"{ROWS} .who a").first.click()
    seen = [window.text("#show-reader h1")]
    while window.shown("#show-reader .steps >> text=Next"):
        window.page.locator("#show-reader .steps >> text=Next").click()
        window.page.locator("#show-reader h1", has_text=names[len(seen)]).wait_for()
        seen.append(window.text("#show-reader h1"))
    assert seen == names
    window.page.get_by_role("link", name="Back to the list").click()
    assert window.texts(f"{ROWS} .who") == names
    window.page.select_option("#filter-persona", names[-1])
    window.page.locator(f"{ROWS} .who a").click()
    window.page.locator("#show-reader h1", has_text=names[-1]).wait_for()
    assert "1 of 1" in window.text("#show-reader .steps")


def test_thousands_of_conversations_lie_on_pages_of_fifty(window: Window, tmp_path: Path):
    rows = [scored_row("BSN", persona=f"P{n:04}") | {"_ng_task_index": n} for n in range(1234)]
    window.open(written(tmp_path, rows), "#list")
    assert len(window.texts(ROWS)) == 50
    assert window.text("#show-list [role=status]") == "1234 conversations, 1 to 50 shown."
    window.page.get_by_role("button", name="Next page").click()
    assert window.texts(f"{ROWS} .who")[0] == "P0050"
    window.open(tmp_path / "page.html", "#c/1233-0")
    assert window.text("#show-reader h1") == "P1233"


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_text_is_shown_and_does_nothing(window: Window, tmp_path: Path, planted: str):
    text = PLANTED[planted]
    window.page.set_viewport_size({"width": 390, "height": 844})
    window.open(written(tmp_path, [hostile_row(text), hostile_row("harmless", key=1)]), "")
    assert window.shown(".score .big")
    for where in ("#list", "#c/0-0"):
        window.open(tmp_path / "page.html", where)
        window.page.locator("h1:visible").wait_for()
        assert window.page.evaluate("window.planted === undefined")
        assert window.page.evaluate("document.querySelectorAll('img, iframe, object, embed, style, link').length") == 1
        assert window.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    window.page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    shown = window.page.locator(".chat .words").first.evaluate("element => element.textContent")
    assert len(shown) >= len(text.replace("\x00", "").replace("\x1b", "")) - 4
    if planted not in ("direction", "separators", "surrogate"):
        assert shown == text


def test_a_mark_that_would_turn_the_text_around_is_shown_in_place_of_acting(window: Window, tmp_path: Path):
    window.open(written(tmp_path, [hostile_row(PLANTED["direction"])]), "#c/0-0")
    words = window.page.locator(".chat .words").first.text_content()
    assert "\u202e" not in words
    assert "left U+202Egnol si sihtU+202C right" in words


def test_what_nobody_sees_is_shown_and_a_flag_stays_a_flag(window: Window, tmp_path: Path):
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    text = f"a\u200bb \U000e0041 {flag} \U0001f469\u200d\U0001f692 \u2764\ufe0f"
    window.open(written(tmp_path, [hostile_row(text)]), "#c/0-0")
    words = window.page.locator(".chat .words").first.text_content()
    assert words == f"aU+200Bb U+E0041 {flag} \U0001f469\u200d\U0001f692 \u2764\ufe0f"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_screen_is_wider_than_its_window(browser: Any, page: Path, scheme: str, width: int):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    window = Window(context.new_page())
    for where in ("", "#list", "#c/3-0"):
        window.open(page, where)
        window.page.locator(".view:visible").wait_for()
        assert window.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), where
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(browser: Any, page: Path, scheme: str):
    """Contrast of 4.5 at least (WCAG AA), for every text on the three screens."""
    context = browser.new_context(viewport={"width": 1280, "height": 844}, color_scheme=scheme)
    window = Window(context.new_page())
    for where in ("", "#list", "#c/3-0"):
        window.open(page, where)
        window.page.locator(".view:visible").wait_for()
        assert window.page.evaluate(CONTRAST) == [], where
    context.close()


CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const painted = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const light = (color) => color.map(linear).reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const behind = (each) => (each ? [...behind(each.parentElement), getComputedStyle(each).backgroundColor] : ['white']);
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest('script, .sr, .skip, svg, option, :disabled')) continue;
    const under = behind(element);
    const [one, two] = [light(painted([...under, getComputedStyle(element).color])), light(painted(under))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) low.push([element.className, text.slice(0, 30), ratio.toFixed(2)].join(' '));
  }
  return low;
}"""


def test_an_address_that_cannot_be_read_is_told_in_words_and_the_page_goes_on(window: Window, page: Path):
    key = f"{example_rows()[0]['_ng_task_index']}-0"
    window.open(page, f"#c/{key}/q/%E0%A4%A")
    window.page.wait_for_selector("#trouble")
    assert "a % in it stands for nothing" in window.text("#trouble")
    assert not window.page.evaluate("document.body.classList.contains('busy')")
    window.page.evaluate("location.hash = '#list'")
    window.page.wait_for_selector(ROWS)
    assert not window.shown("#trouble")


def test_a_browser_that_cannot_unpack_the_conversations_is_told_so(window: Window, page: Path):
    window.page.add_init_script("delete window.DecompressionStream")
    window.open(page, f"#c/{example_rows()[0]['_ng_task_index']}-0")
    window.page.wait_for_selector("#trouble")
    assert "This browser is too old" in window.text("#trouble")
    assert not window.page.evaluate("document.body.classList.contains('busy')")
