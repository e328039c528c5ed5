# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of sources and licenses is what the code pins and what the installed packages say of themselves."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from tests.interop.run import PACKAGES
from vera_mh.pack import VERA_MH
from vera_mh.tasks import ROWS_SHA256

PROJECT = Path(__file__).parents[2]
PINNED = (PROJECT / "resources_servers/vera_mh/rubric/PROVENANCE.md").read_text()
PROVENANCE = (PROJECT / "PROVENANCE.md").read_text()
ATTRIBUTIONS = (PROJECT / "ATTRIBUTIONS.md").read_text()


def needed() -> set[str]:
    """Every package that the project asks for, to run or to develop."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    return {re.split(r"[^\w-]", requirement)[0] for requirement in asked}


def of_development() -> set[str]:
    """Every package that is there wherever the tests run."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    return {re.split(r"[^\w-]", requirement)[0] for requirement in asked}


def attributed() -> dict[str, str]:
    """Every package of the tables, with its license."""
    rows = re.findall(r"^\| ([\w-]+) \| .* \| (.+) \|$", ATTRIBUTIONS, flags=re.MULTILINE)
    return dict(rows)


def test_the_table_of_the_pack_is_that_of_the_code():
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([0-9a-f]{64})` \|$", PINNED, flags=re.MULTILINE)
    assert rows == [(name, VERA_MH.upstream_paths[name], sha) for name, sha in VERA_MH.sha256.items()]
    assert VERA_MH.revision in PINNED


@pytest.mark.parametrize("pin", [VERA_MH.revision, VERA_MH.digest, ROWS_SHA256, PACKAGES[0].partition("==")[2]])
def test_every_pin_is_named_with_its_value(pin):
    assert pin in PROVENANCE


def test_every_package_that_is_asked_for_is_attributed_and_no_other():
    assert set(attributed()) == needed()


@pytest.mark.parametrize(("name", "license_"), attributed().items(), ids=attributed())
def test_a_license_is_the_one_that_the_package_states(name, license_):
    try:
        package = metadata.metadata(name).json
    except metadata.PackageNotFoundError:
        assert name not in of_development(), "it is to be installed"
        pytest.skip("the extra that it belongs to is not installed")
    classifiers = [line for line in package.get("classifier", []) if line.startswith("License")]
    stated = " ".join([*classifiers, str(package.get("license_expression") or package.get("license") or "")])
    families = {family for family in ("Apache", "BSD", "MIT", "MPL") if re.search(rf"\b{family}\b|{family}-", stated)}
    assert families
    assert all(family in license_ for family in families)
