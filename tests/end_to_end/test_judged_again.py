# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Finished runs judged again, merged and compared, by the command itself: the demo, and the real pack without needless keys."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gym_host.cli.main import main
from gym_host.runs.run_files import RunFiles
from tests.support.components import KEY_VARIABLES, gym_process, read_jsonl, write_jsonl
from tests.support.endpoint import Fault, endpoint_process
from vera_mh.metrics import compute_metrics

Json = dict[str, Any]


def metrics(files: RunFiles) -> Json:
    (entry,) = json.loads(files.metrics.read_bytes())
    return dict(entry["agent_metrics"])


def command(*words: str | Path, environ: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """The command in this process, with no pack and no model set but what the environment says; its code, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as environment, redirect_stdout(out), redirect_stderr(err):
        for name in [name for name in os.environ if name in KEY_VARIABLES or name.startswith("VERA_MH_")]:
            environment.delenv(name)
        for name, value in (environ or {}).items():
            environment.setenv(name, value)
        return main([str(word) for word in words]), out.getvalue(), err.getvalue()


def judged_again(files: RunFiles, output: Path, *words: str | Path) -> tuple[str | Path, ...]:
    source = ("--inputs", files.inputs, "--rollouts", files.rollouts, "--output", output)
    return ("eval", "reverify", *source, *words)


# The demo

DEMO = ("--benchmark", "vera_mh_demo")


def done(*words: str | Path) -> None:
    code, _, err = command(*words)
    assert code == 0, err


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFiles]:
    """A finished run of the demo, in the working directory."""
    folder = tmp_path_factory.mktemp("demo")
    with chdir(folder):
        files = RunFiles(Path("results/careful.jsonl"))
        done("eval", "run", *DEMO, "--output", files.rollouts)
        yield files


def test_the_demo_judged_again_comes_to_the_same_verdicts_and_metrics_and_keeps_its_simulations(careful: RunFiles):
    again = RunFiles(Path("results/again.jsonl"))
    done(*judged_again(careful, again.rollouts, *DEMO))
    assert len(read_jsonl(again.rollouts)) == 8
    for old, new in zip(read_jsonl(careful.rollouts), read_jsonl(again.rollouts), strict=True):
        assert (old["transcript_matches_agent"], new["transcript_matches_agent"]) == (True, None)
        assert new["simulation"] == old["simulation"]
        assert new["simulation"]["turn_records"]
        assert new == old | {"transcript_matches_agent": None}
    # Only whether agent and verifier saw the same transcript is not known any more.
    assert metrics(again) == metrics(careful) | {"transcript_mismatch_rate": None}
    assert read_jsonl(again.inputs) == read_jsonl(careful.inputs)


def test_a_run_and_its_judging_again_do_not_differ(careful: RunFiles):
    again = Path("results/same.jsonl")
    done(*judged_again(careful, again, *DEMO))
    done("eval", "compare", careful.rollouts, again, "--output", "c.json")
    (found,) = json.loads(Path("c.json").read_bytes())
    assert (found["num_pairs"], found["num_personas"], found["only_base"], found["only_other"]) == (8, 8, 0, 0)
    assert found["differences"]["base"] == metrics(careful)["vera_score"]
    assert (found["differences"]["difference"], found["differences"]["difference/ci95_high"]) == (0.0, 0.0)


def test_the_words_that_chose_the_configuration_stand_in_the_record(careful: RunFiles):
    assert json.loads(careful.run.read_bytes())["configuration"] == {"benchmark": ["vera_mh_demo"]}


# The real pack


@dataclass(frozen=True)
class RealRun:
    """A run of three rows of the benchmark, on one of which the judge failed.

    Attributes:
        files: Its files.
        pack: An environment in which no model is set.
        judge: One in which the judge's model is set, and no other.
    """

    files: RunFiles
    pack: dict[str, str]
    judge: dict[str, str]

    def file(self, name: str) -> RunFiles:
        return RunFiles(self.files.rollouts.with_name(f"{name}.jsonl"))


@pytest.fixture(scope="module")
def real(pack_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealRun]:
    folder = tmp_path_factory.mktemp("real")
    unusable = Fault(kind="content", role="judge", body="I would rather not say.", first=9)
    with endpoint_process(seed=3, faults=[unusable]) as url, chdir(folder):
        base = url.removesuffix("/v1")
        pack = {"VERA_MH_PACK": str(pack_folder.resolve())}
        judge = pack | {"VERA_MH_JUDGE_BASE_URL": f"{base}/judge/v1", "VERA_MH_JUDGE_API_KEY": "unused"}
        users = {f"VERA_MH_USER_{name}_BASE_URL": f"{base}/persona/v1" for name in ("GPT52", "OPUS45")}
        users |= {f"VERA_MH_USER_{name}_API_KEY": "unused" for name in ("GPT52", "OPUS45")}
        run = RealRun(RunFiles(Path("results/x.jsonl")), pack, judge)
        policy = ("--model", "chatbot", "--model-url", f"{base}/provider/v1", "--model-api-key", "unused")
        words = ("eval", "run", "--benchmark", "vera_mh", "--limit", "3", *policy, "--concurrency", "1")
        code, out, err = command(*words, "--output", run.files.rollouts, environ=judge | users)
        assert code == 1, err
        assert out.startswith("INCOMPLETE: 1 of 3 rollouts has no score.\n  1 failed as judge_failed\n")
        yield run


def test_judging_the_real_benchmark_again_needs_the_judge_alone(real: RealRun):
    again = real.file("again")
    words = judged_again(real.files, again.rollouts, "--benchmark", "vera_mh")
    process = gym_process(*words, cwd=Path.cwd(), environ=real.judge)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert out.startswith("INCOMPLETE: 1 of 3 rollouts has no score.\n  1 left out")
    for old, new in zip(read_jsonl(real.files.rollouts), read_jsonl(again.rollouts), strict=True):
        assert new == old | {"transcript_matches_agent": None}
    assert metrics(again) == metrics(real.files) | {"transcript_mismatch_rate": None}
    servers = json.loads(again.run.read_bytes())["identity"]["servers"]
    assert set(servers) == {"vera_mh", "vera_mh_judge"}


def test_of_the_keys_that_are_not_set_only_the_judges_is_asked_for(real: RealRun):
    words = judged_again(real.files, real.file("none").rollouts, "--benchmark", "vera_mh")
    code, _, err = command(*words, environ=real.pack)
    assert code == 2
    assert "VERA_MH_JUDGE_API_KEY" in err
    assert "VERA_MH_USER" not in err
    assert "policy" not in err
    assert not real.file("none").existing()


def test_the_judging_that_failed_is_made_up_for_with_the_judge_alone(real: RealRun):
    whole = real.file("whole")
    words = judged_again(real.files, whole.rollouts, "--benchmark", "vera_mh", "--judge-failed-only")
    code, out, err = command(*words, environ=real.judge)
    assert code == 0, err
    assert "3 of 3 rollouts scored, 0 failed." in out
    (failed,) = read_jsonl(real.files.failures)
    rows = read_jsonl(whole.rollouts)
    recovered = rows.pop(failed["_ng_task_index"])
    assert rows == read_jsonl(real.files.rollouts)
    assert set(recovered) == set(rows[0])
    assert (recovered["simulation"], recovered["transcript"]) == (failed["simulation"], failed["transcript"])
    assert metrics(whole) == compute_metrics(read_jsonl(whole.rollouts))


def test_merging_and_comparing_need_no_key_at_all(real: RealRun):
    rows = read_jsonl(real.files.rollouts)
    for number in (0, 1):
        write_jsonl(Path(f"part{number}.jsonl"), rows[number : number + 1])
    merged = real.file("merged")
    words = ("eval", "aggregate", "--benchmark", "vera_mh", "--input-glob", "part*.jsonl", "--output", merged.rollouts)
    code, _, err = command(*words, environ=real.pack)
    assert code == 0, err
    assert read_jsonl(merged.rollouts) == rows
    assert metrics(merged) == metrics(real.files)
    code, out, err = command("eval", "compare", real.files.rollouts, merged.rollouts, environ=real.pack)
    assert code == 0, err
    assert out.startswith(f"INCOMPLETE: {real.files.rollouts} lacks 1 of its 3 rollouts.\n")
    assert "2 pairs" in out
