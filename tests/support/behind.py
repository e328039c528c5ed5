# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A benchmark of which every model is the test endpoint, run by the command itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bench.chain import CONFIG, PROJECT, write_rows
from gym_host.runs.run_files import RunFiles
from tests.support.components import KEY_VARIABLES, read_jsonl
from tests.support.demo import demo_pack
from vera_mh.pack import VERA_MH, Pack, read_pack

Json = dict[str, Any]

IMPATIENT = Path(__file__).with_name("impatient.yaml")


@dataclass(frozen=True)
class Results:
    """The files of a run."""

    files: RunFiles

    @property
    def rows(self) -> list[Json]:
        return read_jsonl(self.files.rollouts)

    @property
    def failures(self) -> list[Json]:
        return read_jsonl(self.files.failures)

    @property
    def metrics(self) -> Json:
        """The agent's metrics."""
        (entry,) = json.loads(self.files.metrics.read_bytes())
        metrics: Json = entry["agent_metrics"]
        return metrics

    @property
    def record(self) -> Json:
        record: Json = json.loads(self.files.run.read_bytes())
        return record


@dataclass(frozen=True)
class Behind:
    """A benchmark behind an endpoint.

    Attributes:
        made: How it is put there.
        url: The endpoint's base URL.
        words: What chooses the benchmark on the command line.
        environ: What it needs in the environment.
    """

    made: Made
    url: str
    words: tuple[str, ...]
    environ: Mapping[str, str]

    def at(self, url: str) -> Behind:
        """The same benchmark behind another endpoint."""
        return self.made.behind(url)

    def command(self, output: Path, *words: str) -> list[str]:
        """The words of `gym eval run`, without the page at its end."""
        return ["eval", "run", *self.words, "--config", str(IMPATIENT), "--no-report", "--output", str(output), *words]

    def start(
        self,
        output: Path,
        *words: str,
        environ: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> subprocess.Popen[str]:
        """Starts the command; `before` is done in its process first."""
        kept = {name: text for name, text in os.environ.items() if name not in KEY_VARIABLES and not name.startswith("VERA_MH_")}
        return subprocess.Popen(
            [sys.executable, "-m", "gym_host.cli.main", *self.command(output, *words)],
            cwd=PROJECT,
            env=kept | dict(self.environ) | dict(environ or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=before,
            text=True,
        )

    def run(self, output: Path, *words: str, code: int = 0, **more: Any) -> tuple[str, str]:
        """Runs the command to its end; what it said."""
        process = self.start(output, *words, **more)
        out, err = process.communicate(timeout=300)
        assert process.returncode == code, (process.returncode, out, err)
        return out, err

    def ask(self, path: str) -> Any:
        """What the endpoint tells of itself."""
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}{path}") as answer:
            return json.load(answer)


def results(output: Path) -> Results:
    return Results(RunFiles(output))


@dataclass(frozen=True)
class Made:
    """How to put a benchmark behind an endpoint."""

    words: tuple[str, ...]
    environ: Callable[[str], dict[str, str]]
    pack: Pack
    rows: int
    policy: Callable[[str], tuple[str, ...]] = field(default=lambda base: ())

    def behind(self, url: str) -> Behind:
        base = url.removesuffix("/v1")
        return Behind(self, url, (*self.words, *self.policy(base)), self.environ(base))


def small_benchmark(folder: Path, *, rows: int = 24, max_turns: int = 10) -> Made:
    """Rows of the demo's personas, with the demo's pack."""
    path = write_rows(folder / "rows.jsonl", rows, max_turns)
    words = ("--config", str(CONFIG), "--agent", "vera_mh_agent", "--input", str(path))
    return Made(words, lambda base: {"BENCH_URL": base}, demo_pack(), rows)


def real_benchmark(folder: Path) -> Made:
    """The 200 rows of the real pack."""
    models = {"JUDGE": "judge", "USER_GPT52": "persona", "USER_OPUS45": "persona"}

    def environ(base: str) -> dict[str, str]:
        urls = {f"VERA_MH_{name}_BASE_URL": f"{base}/{role}/v1" for name, role in models.items()}
        return {"VERA_MH_PACK": str(folder)} | urls | {f"VERA_MH_{name}_API_KEY": "unused" for name in models}

    def policy(base: str) -> tuple[str, ...]:
        model = ("--model-type", "inference_provider", "--model", "chatbot", "--model-api-key", "unused")
        return (*model, "--model-url", f"{base}/provider/v1", *impatient)

    # The model type is read after all files, so that only words come after it.
    settings = yaml.safe_load(IMPATIENT.read_text())["policy_model"]["responses_api_models"]["inference_provider"]
    impatient = [f"++policy_model.responses_api_models.inference_provider.{key}={value}" for key, value in settings.items()]
    return Made(("--benchmark", "vera_mh"), environ, read_pack(VERA_MH, folder), 200, policy)
