# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Reading a page that shows a run, as a browser would, without one."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.support.components import read_jsonl
from vera_mh.models import Json
from vera_mh.report import RunContent
from vera_mh.report.content import row_key

EXAMPLES = Path(__file__).parents[2] / "resources_servers/vera_mh/data/example_rollouts.jsonl"
HIDDEN = ("script", "style", "title")


class Page(HTMLParser):
    """A parsed page.

    Attributes:
        tags: Name and attributes of every element, in order.
        text: What is written outside of scripts and styles, blanks folded.
        numbers: Metric -> the value that the page gives for it.
        scripts: Contents of the script elements, by id; the one without an id is the program.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.numbers: dict[str, float | None] = {}
        self.scripts: dict[str, str] = {}
        self.style = ""
        self._texts: list[str] = []
        self._inside: list[str] = []
        self.feed(html)
        self.close()
        self.text = " ".join("".join(self._texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag in HIDDEN:
            self._inside.append(tag)
        if tag == "script":
            self.scripts[found.get("id") or ""] = ""
        if tag == "data":
            name, value = str(found["data-metric"]), found["value"]
            number = float(value) if value else None
            assert self.numbers.setdefault(name, number) == number
        self._texts.append(" " if tag not in ("data", "strong", "bdi", "span", "a") else "")

    def handle_endtag(self, tag: str) -> None:
        if tag in HIDDEN:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside[-1:] == ["script"]:
            last = list(self.scripts)[-1]
            self.scripts[last] += data
        elif self._inside[-1:] == ["style"]:
            self.style += data
        elif not self._inside:
            self._texts.append(data)

    @property
    def index(self) -> Json:
        found: Json = json.loads(self.scripts["index"])
        return found

    def views(self) -> list[Any]:
        """What the page knows of the conversations, in order."""
        blocks = [text for id_, text in self.scripts.items() if id_.startswith("block-")]
        return [one for block in blocks for one in json.loads(gzip.decompress(base64.b64decode(block)))]


def content_of(rows: Iterable[Json], **more: Any) -> RunContent:
    """A run that has these rows."""
    by_key = {row_key(row): row for row in rows}
    given: dict[str, Any] = {"name": "run.jsonl", "rows": lambda: iter(by_key.values()), "row": by_key.__getitem__}
    return RunContent(**given | more)


def example_rows() -> list[Json]:
    """Rollouts of the demo, as they are stored."""
    return read_jsonl(EXAMPLES)


PLANTED = {
    "script": "</script><script>window.planted = 'script'</script>",
    "comment": "<!-- <script>window.planted = 'comment'</script>",
    "image": "<img src=x onerror=\"window.planted = 'image'\">",
    "style": "</style><style>body { display: none !important }</style>",
    "frame": "<iframe srcdoc=\"<script>parent.planted = 'frame'</script>\"></iframe>",
    "link": "<a href=\"javascript:window.planted='link'\">press me</a>",
    "template": "{{ 7 * 7 }} {% raw %} ${window.planted='template'}",
    "ending": "]]></textarea></title></noscript></div></main>",
    "separators": "one\u2028two\u2029three\u0000four\x1b[31m",
    "direction": "left \u202egnol si siht\u202c right \u2067isolated\u2069",
    "hebrew": "\u05e9\u05dc\u05d5\u05dd, this goes the other way",
    "long": "x" * 4000,
    "lines": "a\n\n\n  b\tc",
    "surrogate": "\U0001f642 \U000e0041",
}
"""Texts that a model could write, each with something that must not act."""


def hostile_row(text: str, *, key: int = 0) -> Json:
    """A row in which every text that a model or a row's author writes is this one."""
    row = example_rows()[-1]
    row |= {
        "_ng_task_index": key,
        "id": f"id {text}",
        "persona_name": f"name {text}",
        "user_simulator": f"simulator {text}",
        "risk_level": f"risk {text}",
        "judge_model": f"judge {text}",
        "pack": f"pack {text}",
        "persona": {f"field {text}": text},
        "ratings": {f"{dimension} {text}": rating for dimension, rating in row["ratings"].items()},
        "rating_reasoning": {f"{dimension} {text}": text for dimension in row["ratings"]},
        "conversation": [{**turn, "response": text} for turn in row["conversation"]],
        "question_path": [
            {**step, "reasoning": text, "raw_answer": text, "answer": text, "goto": text, "fallback": True}
            for step in row["question_path"]
        ],
        "judge_receipts": [{**receipt, "content": text, "speculative": True} for receipt in row["judge_receipts"]],
    }
    records = [
        {**record, "model": text, "incomplete": True, "incomplete_reason": text} for record in row["simulation"]["turn_records"]
    ]
    row["simulation"] = {**row["simulation"], "turn_records": records, "provider_system_prompt": text}
    return row
