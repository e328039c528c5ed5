# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Going on with files that are torn, corrupt, from another time, or in somebody's hands."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.faults.conftest import Small
from tests.support.behind import results
from tests.support.components import snapshot, wait_until
from tests.support.endpoint import Fault, endpoint_process, endpoint_thread

TAILS = {
    "half a row": lambda line: line[: len(line) // 2],
    "half a character": lambda line: b'{"text": "\xc3',
    "zeros": lambda line: b"\0" * 5000,
    "a whole row without its line end": lambda line: line.rstrip(b"\n"),
    "nothing": lambda line: b"",
}
"""What can stand behind the last whole row after a crash, made of the row that was being written."""


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS)
def test_20_whatever_a_crash_left_at_the_end_of_the_rollouts_the_run_goes_on_to_the_same_end(small: Small, tmp_path: Path, tail):
    there = small.copy(tmp_path)
    *kept, last = there.files.rollouts.read_bytes().splitlines(keepends=True)
    there.files.rollouts.write_bytes(b"".join(kept) + tail(last))
    small.run(there.files.rollouts, "--resume")
    small.must_be(there.files.rollouts)


@pytest.mark.parametrize("tail", [b'{"_ng_task_index": 3, "err', b"\0" * 100])
def test_20_half_a_failure_is_put_aside_and_counts_for_nothing(small: Small, tmp_path: Path, tail: bytes):
    there = small.copy(tmp_path)
    first, *rest = there.files.rollouts.read_bytes().splitlines(keepends=True)
    there.files.rollouts.write_bytes(b"".join(rest))
    failed = json.loads(first) | {"_ng_failure_class": "agent_run_error", "error": "no", "_ng_attempt_index": 0}
    whole = json.dumps(failed).encode() + b"\n"
    there.files.failures.write_bytes(whole + tail)
    small.run(there.files.rollouts, "--resume")
    small.must_be(there.files.rollouts)
    assert there.files.failures.read_bytes() == whole


@pytest.mark.parametrize("content", [b"", b"{", b"\0" * 300, b"[]", b'"x"'])
def test_21_a_record_that_is_not_whole_is_named_and_nothing_is_touched(small: Small, tmp_path: Path, content: bytes):
    there = small.copy(tmp_path)
    there.files.run.write_bytes(content)
    before = snapshot(tmp_path)
    said = small.run(there.files.rollouts, "--resume", code=2)
    assert "x_run.json" in said
    assert "Traceback" not in said
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("content", [b"", b"[{", b"\0" * 300])
def test_23_metrics_and_rows_as_dispatched_that_are_not_whole_are_written_anew(small: Small, tmp_path: Path, content: bytes):
    there = small.copy(tmp_path)
    inputs = there.files.inputs.read_bytes()
    there.files.metrics.write_bytes(content)
    there.files.inputs.write_bytes(content)
    small.run(there.files.rollouts, "--resume")
    small.must_be(there.files.rollouts)
    assert there.files.inputs.read_bytes() == inputs


@pytest.mark.parametrize("year", ["1999", "2199"])
def test_a_run_that_the_clock_says_was_long_ago_or_is_yet_to_come_is_gone_on_with(small: Small, tmp_path: Path, year: str):
    there = small.copy(tmp_path)
    *kept, last = there.files.rollouts.read_bytes().splitlines(keepends=True)
    there.files.rollouts.write_bytes(b"".join(kept))
    moment = f"{year}-01-01T00:00:00+00:00"
    there.files.run.write_text(json.dumps(there.record | {"started_at": moment, "ended_at": moment}))
    failed = {"_ng_failure_class": "agent_run_error", "error": "no", "_ng_attempt_index": 0, "failed_at": moment}
    there.files.failures.write_text(json.dumps(json.loads(last) | failed) + "\n")
    seconds = {"1999": 915_148_800, "2199": 7_226_582_400}[year]
    for path in there.files.all:
        os.utime(path, (seconds, seconds))
    small.run(there.files.rollouts, "--resume")
    small.must_be(there.files.rollouts)
    assert there.record["started_at"] == moment


def test_22_a_second_run_is_refused_whatever_it_wants_until_the_first_is_dead(small: Small, tmp_path: Path):
    output = tmp_path / "x.jsonl"
    with endpoint_process(seed=7, latency=0.5) as slow:
        first = small.behind.at(slow).start(output)
        wait_until(output.exists)
        for words in ((), ("--resume",), ("--overwrite",)):
            said = small.run(output, *words, code=2)
            assert f"another run is writing {output}" in said
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=10)
    assert results(output).record["status"] == "running"
    small.run(output, "--overwrite")
    small.must_be(output)


def test_a_key_that_is_refused_at_the_first_answer_does_not_cost_the_run_that_was_to_be_replaced(small: Small, tmp_path: Path):
    there = small.copy(tmp_path)
    before = snapshot(tmp_path)
    with endpoint_thread(seed=7, faults=[Fault(kind="status", status=401)]) as endpoint:
        _, said = small.behind.at(endpoint.url).run(there.files.rollouts, "--overwrite", code=1)
    assert f"nothing was scored, so what was to be replaced is kept as {there.files.rollouts}.replaced" in said
    assert {name: content for name, content in snapshot(tmp_path).items() if name.endswith(".replaced")} == {
        f"{name}.replaced": content for name, content in before.items()
    }
    small.run(there.files.rollouts, "--overwrite")
    small.must_be(there.files.rollouts)
    assert snapshot(tmp_path).keys() == before.keys()


@pytest.mark.parametrize("change", [{"risk_level": "Unheard"}, {"user_simulator": "gpt-5.2-mini"}, {"persona_name": "Nobody"}])
def test_a_rollout_in_which_somebody_changed_what_the_metrics_read_of_its_row_is_refused(small: Small, tmp_path: Path, change):
    there = small.copy(tmp_path)
    rows = there.rows
    rows[4] |= change
    there.files.rollouts.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    before = snapshot(tmp_path)
    said = small.run(there.files.rollouts, "--resume", code=2)
    assert f"has another `{next(iter(change))}` than its row" in said
    assert f"{there.files.rollouts}, line 5" in said
    assert snapshot(tmp_path) == before
