# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a model wrote is text on the page, whatever it is: none of it can become markup, script, or an end of what holds it."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.pages import PLANTED, Page, content_of, hostile_row
from vera_mh.analysis.comparison import compare
from vera_mh.models import Json
from vera_mh.report import comparison_page, run_page
from vera_mh.report.content import Failure
from vera_mh.report.embedding import json_script
from vera_mh.views.comparison_tables import shown_comparison


def hostile_pages(text: str) -> list[str]:
    rows = [hostile_row(text)]
    failure = {"_ng_failure_class": text, "persona_name": text, "failure_stage": text, "error": text, "user_simulator": text}
    table = {"title": text, "columns": [text, text], "rows": [[text, text]]}
    content = content_of(
        rows, name=f"{text}.jsonl", planned=2, failures=[Failure(1, failure)], cost={"tables": [table], "notes": [text]}
    )
    return ["".join(run_page(content)), "".join(comparison_page(content, content, shown_comparison(compare(rows, rows))))]


def shape(page: Page) -> list[tuple[str, list[str]]]:
    """Every element with the names of its attributes, in order; the page's own program is the same on all pages."""
    return [(tag, list(attrs)) for tag, attrs in page.tags]


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_text_adds_no_element_and_no_attribute(planted: str):
    """The page has the very elements that it has with harmless text in the same places."""
    for html, harmless in zip(hostile_pages(PLANTED[planted]), hostile_pages("harmless"), strict=True):
        page, expected = Page(html), Page(harmless)
        assert shape(page) == shape(expected)
        assert page.scripts[""] == expected.scripts[""]
        assert html.count("<") == harmless.count("<")
        assert len(re.findall("</script", html, re.IGNORECASE)) == len(re.findall("<script", html, re.IGNORECASE))


@pytest.mark.parametrize("planted", PLANTED)
def test_planted_text_is_on_the_page_as_it_was_written(planted: str):
    text = PLANTED[planted]
    (view,) = Page(hostile_pages(text)[0]).views()
    assert {turn["text"] for turn in view["turns"]} == {text}
    assert {step["reasoning"] for step in view["path"]} == {text}
    (both,) = Page(hostile_pages(text)[1]).views()
    assert both["other"] == view


@pytest.mark.parametrize("planted", PLANTED)
def test_nothing_on_the_first_screen_turns_text_around_or_controls_anything(planted: str):
    for page in map(Page, hostile_pages(PLANTED[planted])):
        shown = [page.text, *(str(value) for _, attrs in page.tags for value in attrs.values())]
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "".join(shown))


def test_a_mark_that_would_act_is_shown_by_its_code():
    for page in map(Page, hostile_pages(PLANTED["direction"])):
        assert "left U+202Egnol si sihtU+202C right U+2067isolatedU+2069" in page.text
    for page in map(Page, hostile_pages(PLANTED["separators"])):
        assert "threeU+0000fourU+001B[31m" in page.text


@pytest.mark.parametrize("planted", PLANTED)
def test_data_cannot_close_its_own_script_and_comes_back_the_same(planted: str):
    value: Json = {PLANTED[planted]: [PLANTED[planted]]}
    script = str(json_script("index", value))
    inside = script.removeprefix('<script type="application/json" id="index">').removesuffix("</script>\n")
    assert not set(inside) & set("<>&\u2028\u2029")
    assert json.loads(inside) == value
