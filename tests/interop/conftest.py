# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests under NVIDIA's host share: the host itself, and the endpoint that plays every model of the benchmark."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.nemo_gym import FOLDER_VARIABLE, PROJECT, NemoGym

WRITTEN_BESIDE_ROWS = ("*_metrics.json", "*_prepare.jsonl")
"""What NVIDIA's host writes beside the rows of a benchmark as it collates them."""


@pytest.fixture(scope="session")
def nemo_gym() -> Iterator[NemoGym]:
    """NVIDIA's command; afterwards the checkout holds what it held before."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        pytest.skip("needs NVIDIA NeMo Gym: run `make interop`")
    before = _written()
    scratch = Path(tempfile.mkdtemp(prefix="vmh-", dir="/tmp"))
    try:
        yield NemoGym(Path(folder), scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        for path in _written() - before:
            path.unlink()


def _written() -> set[Path]:
    return {path for pattern in WRITTEN_BESIDE_ROWS for path in PROJECT.glob(f"benchmarks/*/data/{pattern}")}


@pytest.fixture(autouse=True)
def _nothing_left_in_the_checkout() -> Iterator[None]:
    before = set(os.listdir(PROJECT))
    yield
    assert not (set(os.listdir(PROJECT)) - before) & {"mlruns", "outputs", "wandb"}
