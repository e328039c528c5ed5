# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vera_mh.metrics import compute_metrics
from vera_mh.models import Json
from vera_mh.report.content import RunContent
from vera_mh.report.conversation_view import conversation_view
from vera_mh.report.embedding import PER_BLOCK, block_scripts, json_script
from vera_mh.report.overview import overview
from vera_mh.report.page import page
from vera_mh.report.run_index import RunIndex
from vera_mh.rubric import Question

SCRIPTS = ("dom.js", "store.js", "filters.js", "list.js", "chat.js", "judging.js", "routing.js", "run.js")


def run_page(run: RunContent) -> Iterator[str]:
    """The page of a run, part by part: the rows are read twice, and only one block of them is in memory at a time.

    The numbers are computed from the rows themselves, so that the page cannot say otherwise than they do.

    Raises:
        RowError: A row holds no ratings, or one that is none.
    """
    run_index = RunIndex()
    metrics = compute_metrics(run_index.watch(run.rows()))
    index = {
        "dimensions": list(run_index.dimensions),
        "questions": questions_json(run.questions),
        "perBlock": PER_BLOCK,
        "rows": run_index.complete_entries(),
    }
    content = {
        "title": run.name,
        "metrics": metrics,
        "index": json_script("index", index),
        "blocks": block_scripts(conversation_view(row) for row in run.rows()),
        **overview(run, run_index, metrics),
    }
    yield from page("run.html.j2", SCRIPTS, content)


def questions_json(questions: Mapping[str, Question]) -> Json:
    """What the page shows of the rubric."""
    return {
        id_: {
            "text": question.text,
            "dimension": question.dimension,
            "severity": question.severity or "",
            "options": [] if question.implicit else [option.text for option in question.options],
        }
        for id_, question in questions.items()
    }
