# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whole runs against an endpoint that spoils every fifth answer, in every way that there is.

What an endpoint says hangs on its seed and the messages alone, so a run that nothing disturbed tells what every row of a
disturbed one must come to, and which request every failed row was at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.behind import Behind, Made, Results, real_benchmark, results, small_benchmark
from tests.support.endpoint import Fault, endpoint_process
from tests.support.replies import digest_of
from vera_mh.judge import JudgeSheet
from vera_mh.pack import PERSONA_REMINDER, Pack
from vera_mh.simulation import messages_for
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Speaker, conversation_from_json

SEED = 11
ATTEMPTS = {"NEMO_GYM_MAX_ROLLOUT_ATTEMPTS": "100"}
WAIT = {"Retry-After-Ms": "30"}
FAULTS = [
    Fault(kind="stale", probability=0.02),
    Fault(kind="cut", probability=0.015),
    Fault(kind="reset_in_headers", probability=0.015),
    Fault(kind="reset_in_body", probability=0.015),
    Fault(kind="half", probability=0.015),
    Fault(kind="garbage", probability=0.015),
    Fault(kind="html", probability=0.01),
    Fault(kind="no_choices", probability=0.01),
    Fault(kind="empty_choices", probability=0.01),
    Fault(kind="choice_error", probability=0.015),
    Fault(kind="error_in_200", probability=0.015),
    Fault(kind="status", status=429, headers=WAIT, probability=0.015),
    Fault(kind="status", status=500, probability=0.015),
    Fault(kind="status", status=503, headers={"Retry-After": "0"}, probability=0.01),
    Fault(kind="slow", seconds=0.2, probability=0.01),
    Fault(kind="wrong_content_type", probability=0.01),
    Fault(kind="flapping", period=40, probability=0.02),
    Fault(kind="content", role="judge", probability=0.01),
    Fault(kind="silence", seconds=20, probability=0.002, first=2),
    Fault(kind="huge", probability=0.001, first=2),
    Fault(kind="status", status=400, probability=0.001),
    Fault(kind="status", status=401, probability=0.0005),
    Fault(kind="status", status=429, headers={"Retry-After": "75"}, probability=0.0005),
]
HARMLESS = {"slow", "wrong_content_type"}
"""Kinds with which an answer is right all the same."""
FINAL = {"huge", "status 400", "status 401", "status 429"}
"""Kinds that are not tried again, or not always."""
SAID = {
    "choice_error": "Upstream went away",
    "cut": "without an answer",
    "content": "no usable reply",
    "empty_choices": "no choice",
    "error_in_200": "is busy",
    "flapping": "without an answer",
    "garbage": "no JSON",
    "half": "no JSON",
    "html": "Please sign in",
    "no_choices": "no choice",
    "reset_in_body": "in the middle of an answer",
    "reset_in_headers": "without an answer",
    "silence": "did not answer within",
    "stale": "without an answer",
    "status": "The test endpoint says",
}
"""What stands in the error of a row that failed so; of one that got a huge answer, one of two things."""
SAME = ("id", "transcript", "conversation", "ratings", "rating_reasoning", "question_path", "reward", "turn_count")
"""What a row must have of the undisturbed run; usage and times are those of the calls that were made."""
OF_CALLS = {"judge_calls_total", "judge_parse_retry_rate"}
"""The metrics that count calls: of a judge whose reply could not be read there are more."""


@dataclass(frozen=True)
class Case:
    """A benchmark, what each of its rows comes to, and a run of it that was disturbed and never gone on with."""

    made: Made
    undisturbed: Results
    first: Results
    behind: Behind

    def expected(self) -> dict[int, dict[str, Any]]:
        return {row["_ng_task_index"]: row for row in self.undisturbed.rows}


@pytest.fixture(scope="module", params=["small", "real"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    made = small_benchmark(folder) if request.param == "small" else real_benchmark(request.getfixturevalue("pack_folder"))
    with endpoint_process(seed=SEED) as url:
        made.behind(url).run(folder / "undisturbed.jsonl", "--concurrency", "100")
    with endpoint_process(seed=SEED, faults=FAULTS) as url:
        behind = made.behind(url)
        behind.run(folder / "x.jsonl", "--concurrency", "100", code=1, environ=ATTEMPTS)
        yield Case(made, results(folder / "undisturbed.jsonl"), results(folder / "x.jsonl"), behind)


def keys(rows: Sequence[Mapping[str, Any]]) -> list[int]:
    assert {row["_ng_rollout_index"] for row in rows} <= {0}
    return [row["_ng_task_index"] for row in rows]


def same(row: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    for key in SAME:
        assert row[key] == expected[key], (row["id"], key)


class Requests:
    """Which request a stage of a row is, as a digest: what the undisturbed run sent at that place."""

    def __init__(self, pack: Pack) -> None:
        self._sheet, self._reminder = JudgeSheet.from_pack(pack), pack.text(PERSONA_REMINDER)
        self._questions = {question.id: question for question in self._sheet.rubric.questions.values()}

    def of_stage(self, stage: str, row: Mapping[str, Any]) -> tuple[str, str]:
        """Role and digest."""
        who, what, place = stage.split("_", 2)
        if (who, what) == ("judge", "question"):
            return "judge", self._digest(
                self._sheet.system_prompt(row["transcript"]), user=self._sheet.question_prompt(self._questions[place])
            )
        assert what == "turn"
        speaker: Speaker = PERSONA if who == "persona" else PROVIDER
        turns = conversation_from_json(row["conversation"])[: int(place) - 1]
        said = messages_for(speaker, turns, reminder=self._reminder) if turns else [{"role": "user", "content": START_PROMPT}]
        system = row["persona_system_prompt"] if speaker == PERSONA else row["simulation"]["provider_system_prompt"]
        return speaker, self._digest(system, *said)

    def _digest(self, system: str, *said: dict[str, Any], user: str | None = None) -> str:
        asked = [{"role": "user", "content": user}] if user is not None else []
        return digest_of(SEED, [{"role": "system", "content": system}, *said, *asked]).hex()


def test_every_row_ends_scored_or_failed_and_none_does_twice(case: Case):
    scored, failed = keys(case.first.rows), keys(case.first.failures)
    assert sorted(scored + failed) == list(range(case.made.rows))
    assert scored
    assert failed


def test_nothing_that_is_scored_holds_a_word_of_an_error(case: Case):
    expected = case.expected()
    for row in case.first.rows:
        same(row, expected[row["_ng_task_index"]])
        assert "_ng_failure_class" not in row


def test_every_failed_row_names_the_request_that_the_endpoint_spoiled_and_its_last_word(case: Case):
    expected, requests = case.expected(), Requests(case.made.pack)
    spoiled: dict[tuple[str, str], Counter[str]] = {}
    for fault in case.behind.ask("/faults"):
        kind = f"status {fault['status']}" if fault["kind"] == "status" else fault["kind"]
        spoiled.setdefault((fault["role"], fault["digest"]), Counter())[kind] += 1
    for row in case.first.failures:
        stage = row["failure_stage"]
        judging = stage.startswith("judge_question_")
        assert row["_ng_failure_class"] == ("judge_failed" if judging else "vera_mh_simulation_failed")
        assert (row["reward"], row["mask_sample"], row["_ng_attempt_index"]) == (0.0, True, 0)
        assert row["duration_seconds"] >= 0
        kinds = spoiled[requests.of_stage(stage, expected[row["_ng_task_index"]])]
        harmful = sum(count for kind, count in kinds.items() if kind not in HARMLESS)
        assert harmful >= (1 if kinds.keys() & FINAL else 3), (row["id"], stage, kinds)
        said = {SAID.get(kind.split()[0]) for kind in kinds if kind not in HARMLESS}
        words = said - {None} | ({"larger than", SAID["silence"]} if "huge" in kinds else set())
        assert any(word in row["error"] for word in words), (row["error"], kinds)


def test_a_conversation_whose_judging_failed_is_whole_and_one_whose_simulation_failed_is_not_there(case: Case):
    expected = case.expected()
    for row in case.first.failures:
        if row["_ng_failure_class"] == "judge_failed":
            assert row["conversation"] == expected[row["_ng_task_index"]]["conversation"]
            assert isinstance(row["response"]["output"], list)
        else:
            assert not row.keys() & {"conversation", "response", "transcript", "ratings"}
        assert "ratings" not in row


def test_going_on_finishes_the_run_with_the_metrics_of_one_that_nothing_disturbed(case: Case, tmp_path: Path):
    output = tmp_path / "x.jsonl"
    for before, after in zip(case.first.files.all, results(output).files.all, strict=True):
        after.write_bytes(before.read_bytes())
    scored = {row["_ng_task_index"]: row for row in case.first.rows}
    for _ in range(30):
        process = case.behind.start(output, "--concurrency", "100", "--resume", environ=ATTEMPTS)
        out, err = process.communicate(timeout=120)
        assert process.returncode in (0, 1), err
        rows = results(output).rows
        assert len(set(keys(rows))) == len(rows) >= len(scored)
        assert all(row == scored.get(row["_ng_task_index"], row) for row in rows)
        scored = {row["_ng_task_index"]: row for row in rows}
        if process.returncode == 0:
            break
    assert f"{case.made.rows} of {case.made.rows} rollouts scored, 0 failed." in out
    done, expected = results(output), case.expected()
    assert keys(done.rows) == list(range(case.made.rows))
    for row in done.rows:
        same(row, expected[row["_ng_task_index"]])
    assert comparable(done.metrics) == comparable(case.undisturbed.metrics)
    attempts = Counter(keys(done.failures))
    assert all(
        [row["_ng_attempt_index"] for row in done.failures if row["_ng_task_index"] == task] == list(range(count))
        for task, count in attempts.items()
    )


def test_about_every_fifth_answer_was_spoiled_and_in_every_way(case: Case):
    counts = case.behind.ask("/stats")["counts"]
    asked = sum(count for name, count in counts.items() if "/" not in name)
    spoiled = sum(count for name, count in counts.items() if name.startswith("fault/"))
    assert 0.15 < spoiled / asked < 0.25
    if asked > 10_000:
        assert {name.removeprefix("fault/") for name in counts if "/" in name} == {fault.kind for fault in FAULTS}


def comparable(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics without those that tell how often the judge was spoiled."""
    return {name: value for name, value in metrics.items() if name not in OF_CALLS}
