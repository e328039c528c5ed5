# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which file a command may write."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from gym_host.errors import OutputError
from gym_host.runs.outputs import refuse_output


def refused(output: Path, *, overwrite: bool) -> str:
    with pytest.raises(OutputError) as caught:
        refuse_output(output, endings=(".html", ".htm"), what="a page", overwrite=overwrite, flag="--report")
    return str(caught.value)


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_name_with_another_ending_and_a_folder_are_refused_whatever_may_be_replaced(tmp_path: Path, overwrite: bool):
    (tmp_path / "folder.html").mkdir()
    for name in ("page.json", "folder.html"):
        said = refused(tmp_path / name, overwrite=overwrite)
        assert f"{name} is no name for a page" in said
        assert "where: --report" in said
        assert "end it in .html" in said


def test_a_file_that_is_there_is_refused_unless_it_may_be_replaced(tmp_path: Path):
    page = tmp_path / "page.htm"
    refuse_output(page, endings=(".html", ".htm"), what="a page", overwrite=False)
    page.touch()
    assert "page.htm is already there" in refused(page, overwrite=False)
    refuse_output(page, endings=(".html", ".htm"), what="a page", overwrite=True)


def test_no_file_is_none_to_refuse():
    refuse_output(None, endings=(".json",), what="a comparison", overwrite=False)


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("name", ["x_run.json", "x_aggregate_metrics.json", "link.json"])
def test_no_file_of_a_run_that_is_read_is_replaced_whatever_may_be(tmp_path: Path, overwrite: bool, name: str):
    (tmp_path / "link.json").symlink_to(tmp_path / "x_run.json")
    refuse = partial(refuse_output, tmp_path / name, endings=(".json",), what="a comparison", overwrite=overwrite)
    with pytest.raises(OutputError, match=rf"{name} is a file of the run \S+x.jsonl, which is read"):
        refuse(reads=[tmp_path / "y.jsonl", tmp_path / "x.jsonl"])
    refuse(reads=[tmp_path / "y.jsonl"])
