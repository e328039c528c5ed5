# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Links among the files that a command writes: which are followed, and which are refused."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from gym_host.errors import OutputError
from gym_host.runs.links import files_to_write, refuse_link
from gym_host.runs.outputs import refuse_output
from gym_host.runs.run_files import RunFiles

ENDINGS = ["_failures.jsonl", "_materialized_inputs.jsonl", "_aggregate_metrics.json", "_run.json"]


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder that links lead to."""
    folder = tmp_path / "disk"
    folder.mkdir()
    return folder.resolve()


def link(path: Path, target: Path) -> Path:
    path.symlink_to(target)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["x.jsonl", "y.jsonl"])
def test_a_link_to_rollouts_beside_which_another_file_of_their_run_lies_is_refused(
    tmp_path: Path, disk: Path, name: str, ending: str
):
    (disk / f"x{ending}").touch()
    output = link(tmp_path / name, disk / "x.jsonl")
    with pytest.raises(OutputError) as caught:
        files_to_write(output)
    assert caught.value.what == f"{output} is a link to {disk / 'x.jsonl'}, which is a file of another run"
    assert caught.value.mend == f"name {disk / 'x.jsonl'} if that run is meant, else another file"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_link_to_any_other_file_of_a_run_is_refused(tmp_path: Path, disk: Path, ending: str):
    (disk / "x.jsonl").touch()
    for output in (link(tmp_path / "y.jsonl", disk / f"x{ending}"), tmp_path / "z.jsonl"):
        if not output.is_symlink():
            link(tmp_path / f"z{ending}", disk / f"x{ending}")
        with pytest.raises(OutputError, match=rf"is a link to \S+x{ending}, which is a file of another run"):
            files_to_write(output)


def test_the_page_that_a_run_leaves_goes_through_no_link_to_another_run(tmp_path: Path, disk: Path):
    for name in ("x.jsonl", "x_run.json"):
        (disk / name).touch()
    page = link(tmp_path / "y_report.html", disk / "x.jsonl")
    with pytest.raises(OutputError, match=r"y_report\.html is a link to \S+x\.jsonl, which is a file of another run"):
        files_to_write(tmp_path / "y.jsonl")
    page.unlink()
    link(page, disk / "y_report.html")
    files_to_write(tmp_path / "y.jsonl")


def test_links_to_another_disk_are_followed_for_as_long_as_they_lead_to_no_other_run(tmp_path: Path, disk: Path):
    files = RunFiles(link(tmp_path / "x.jsonl", disk / "x.jsonl"))
    for target in (disk / "x.jsonl", disk / "other_run.json"):
        target.touch()
    assert files_to_write(files.rollouts) == files
    link(files.failures, disk / files.failures.name).write_bytes(b"")
    assert files_to_write(files.rollouts) == files
    (disk / files.inputs.name).touch()
    with pytest.raises(OutputError, match="another run"):
        files_to_write(files.rollouts)


def test_a_run_is_another_one_by_its_record_even_where_every_file_is_a_link(tmp_path: Path, disk: Path):
    files, run = RunFiles(tmp_path / "latest.jsonl"), RunFiles(disk / "x.jsonl")
    for path, target in zip(files.all, run.all, strict=True):
        target.touch()
        link(path, target)
    with pytest.raises(OutputError, match="another run"):
        files_to_write(files.rollouts)


def test_the_file_itself_in_a_folder_that_is_a_link_is_no_link(tmp_path: Path, disk: Path):
    (disk / "x_run.json").touch()
    output = link(tmp_path / "results", disk) / "x.jsonl"
    output.touch()
    assert files_to_write(output) == RunFiles(output)


@pytest.mark.parametrize("target", ["x.jsonl", "y.jsonl"])
def test_a_link_that_leads_back_to_itself_is_refused_in_one_sentence(tmp_path: Path, target: str):
    output = link(tmp_path / "x.jsonl", tmp_path / target)
    if target != output.name:
        link(tmp_path / target, output)
    with pytest.raises(OutputError, match=r"x\.jsonl is a link that leads back to itself"):
        files_to_write(output)
    with pytest.raises(OutputError, match="leads back to itself") as caught:
        refuse_link(output, flag="--report")
    assert caught.value.where == "--report"
    RunFiles(tmp_path / "z.jsonl").refuse_sources([output])


@pytest.mark.parametrize("overwrite", [True, False])
def test_no_page_goes_through_a_link_to_a_file_of_any_run(tmp_path: Path, disk: Path, overwrite: bool):
    refuse = partial(refuse_output, endings=(".html",), what="a page", overwrite=overwrite, page=True)
    for name in ("x.jsonl", "x_run.json", "x_report.html", "x.txt"):
        (disk / name).touch()
    with pytest.raises(OutputError, match=r"a\.html is one of the files that are read"):
        refuse(link(tmp_path / "a.html", disk / "x.jsonl"), reads=[disk / "x.jsonl"])
    with pytest.raises(OutputError, match=r"b\.html is a file of the run \S+x\.jsonl, which is read"):
        refuse(link(tmp_path / "b.html", disk / "x_run.json"), reads=[disk / "x.jsonl"])
    for name in ("a.html", "b.html"):
        with pytest.raises(OutputError, match=rf"{name} is a link to \S+, which is a file of another run"):
            refuse(tmp_path / name, reads=[disk / "y.jsonl"])


def test_a_page_may_take_the_place_of_an_earlier_one_through_a_link_or_not(tmp_path: Path, disk: Path):
    for name in ("x.jsonl", "x_run.json", "x_report.html", "x.txt"):
        (disk / name).touch()
    links = link(tmp_path / "a.html", disk / "x_report.html"), link(tmp_path / "b.html", disk / "x.txt")
    for output in (disk / "x_report.html", *links):
        refuse_output(output, endings=(".html",), what="a page", overwrite=True, reads=[disk / "x.jsonl"], page=True)
