# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A finished run in upstream's layout: the files that its own scripts write and read.

Below the folder of a run stand `conversations/{name}.txt` and, for the judging, `evaluations/j_{judges}__{run}/` with one sheet a
conversation (`{name}_{judge}_i1.tsv`), `results.csv` and `scores/scores.json`. Reproduces upstream's `judge/runner.py`,
`judge/utils.py`, `judge/score_utils.py` and `judge/score.py` at the pinned commit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vera_mh.errors import RowError
from vera_mh.exchange.upstream_names import conversation_name, model_token
from vera_mh.exchange.upstream_results import Judging, dimensions_of, results_csv
from vera_mh.exchange.upstream_scores import upstream_scores
from vera_mh.metrics import check_row
from vera_mh.models import Json
from vera_mh.rating import UNRATED
from vera_mh.rollout import turns_of_row
from vera_mh.stored_row import reason_of
from vera_mh.transcript import render_transcript

CONVERSATIONS = "conversations"
EVALUATIONS = "evaluations"

_ISSUE = re.compile(r"Q([0-9]+):\s*")
_NEXT_ISSUE = re.compile(r";\s*Q[0-9]+:")


def upstream_files(rows: Iterable[Mapping[str, Any]], *, run: str) -> Iterator[tuple[str, bytes]]:
    """The files of a run.

    Args:
        rows: Scored rows, read once; failed ones are in no file.
        run: Name of the run, for the folder of the judging.

    Yields:
        Path below the run's folder, with `/`, and content; the conversations as they come, what sums them up at the end.

    Raises:
        RowError: A row has no ratings or no conversation, or two conversations have the same name.
    """
    results: list[Json] = []
    names: set[str] = set()
    sheets: list[tuple[str, bytes]] = []
    for number, row in enumerate(rows, start=1):
        if row.get("_ng_failure_class"):
            continue
        check_row(f"row {number}", row)
        name = conversation_name(row)
        if name in names:
            raise RowError(f"row {number}: two conversations have the name {name!r}")
        names.add(name)
        yield f"{CONVERSATIONS}/{name}.txt", render_transcript(turns_of_row(row)).encode("utf-8", "replace")
        judge = str(row.get("judge_model") or "unknown")
        sheets.append((f"{name}_{_file_token(judge)}_i1.tsv", _sheet(row).encode("utf-8", "replace")))
        results.append(_result(row, name, judge, run))
    folder = f"{EVALUATIONS}/j_{model_token('_'.join(f'{judge}x1' for judge in _named(results, 'judge_model')))}__{run}"
    for name, sheet in sheets:
        yield f"{folder}/{name}", sheet
    dimensions = dimensions_of(results)
    yield f"{folder}/results.csv", results_csv(map(_judging, results), dimensions).encode("utf-8", "replace")
    yield f"{folder}/scores/scores.json", json.dumps(_scores(results, dimensions), indent=2).encode()


def _file_token(model: str) -> str:
    return re.sub(r"[/:\x00]", "_", model)


def _one_line(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")


def _sheet(row: Mapping[str, Any]) -> str:
    """The sheet of one judging: a line for each dimension that was rated."""
    lines = [
        f"{dimension}\t{rating}\t{_one_line(reason_of(row, dimension))}\n"
        for dimension, rating in row["ratings"].items()
        if rating != UNRATED
    ]
    return "".join(["Dimension\tScore\tReasoning\n", *lines])


def _result(row: Mapping[str, Any], name: str, judge: str, run: str) -> Json:
    """What `results.csv` and the scores need of a row."""
    simulator = row.get("user_simulator_upstream_model") or row.get("user_simulator")
    response = row.get("response")
    return {
        "filename": f"{name}.txt",
        "run_id": run,
        "judge_model": judge,
        "ratings": row["ratings"],
        "reasoning": {dimension: reason_of(row, dimension) for dimension in row["ratings"]},
        "persona_model": simulator,
        "agent_model": response.get("model") if isinstance(response, Mapping) else None,
    }


def _judging(result: Mapping[str, Any]) -> Judging:
    issues = {name: first_issue(_one_line(reason)) for name, reason in result["reasoning"].items()}
    return Judging(result["filename"], result["run_id"], result["judge_model"], result["ratings"], issues)


def first_issue(reasoning: str) -> tuple[str, str]:
    """Question and reason of the first issue that a reasoning names, as upstream takes them back out of its sheets."""
    reasoning = reasoning.strip()
    for issue in _ISSUE.finditer(reasoning):
        if issue.end() < len(reasoning):
            following = _NEXT_ISSUE.search(reasoning, issue.end() + 1)
            return issue[1], reasoning[issue.end() : following.start() if following else None].strip()
    return "", ""


def _scores(results: Sequence[Mapping[str, Any]], dimensions: Sequence[str]) -> Json:
    models = {key: ", ".join(_named(results, key)) or "Unknown" for key in ("judge_model", "persona_model", "agent_model")}
    return models | upstream_scores(results, dimensions)


def _named(results: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return sorted({str(result[key]) for result in results if result[key]})
