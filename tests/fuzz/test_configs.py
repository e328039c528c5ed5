# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a configuration, an override or an interpolation looks like, the command reads it or says what is to be mended."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_host.cli.main import main
from tests.support.demo import DEMO
from tests.support.mangled import ANY_JSON, mangled

# As YAML lets one write: everything that means something to it, and to interpolations.
MARKS = st.text(alphabet="{}[]:,-&*!?|>'\"%@`#\n\t ab1.$=~+\\\0\u2028", max_size=40)
INTERPOLATIONS = st.recursive(
    st.sampled_from(
        ["a", "policy_model", "x.y", "oc.env:HOME", "oc.env:NO_SUCH_VARIABLE", "???", "", ".", "oc.decode:1", "nope:1"]
    ),
    lambda inner: (
        st.builds("${{{}}}".format, inner) | st.builds("{}{}".format, inner, inner) | st.builds("oc.env:A,{}".format, inner)
    ),
    max_leaves=5,
)
WORDS = st.text(alphabet="abxyz_.0-$+~", min_size=1, max_size=12)
OVERRIDES = st.builds(
    "{}{}{}{}".format, st.sampled_from(["", "+", "++", "~"]), WORDS | MARKS, st.just("="), MARKS | INTERPOLATIONS | WORDS
)
DEMO_CONFIG: Any = yaml.safe_load((DEMO / "config.yaml").read_text("utf-8"))

few = settings(max_examples=40)


def gym(*words: str) -> tuple[int, str]:
    """The command's exit code and what it says; anything but an answer in words escapes as the exception that it is."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main(list(words))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return code, said.getvalue()


def assert_answered(code: int, said: str) -> None:
    assert code in (0, 2), said
    assert "Traceback" not in said
    assert code == 0 or "error: " in said or "to mend it" in said or '"faults"' in said or "takes no overrides" in said


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("configs")


@few
@given(data=st.data())
def test_a_file_of_any_text_is_read_or_refused(folder: Path, data: st.DataObject):
    path = folder / "any.yaml"
    text = data.draw(MARKS | st.binary(max_size=30) | INTERPOLATIONS.map("a: {}".format))
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    for verb in ("validate", "resolve"):
        assert_answered(*gym("env", verb, "--config", str(path)))


@few
@given(data=st.data())
def test_a_good_file_with_a_few_wrong_places_is_read_or_refused(folder: Path, data: st.DataObject):
    path = folder / "mangled.yaml"
    value = data.draw(mangled(DEMO_CONFIG, changes=2))
    path.write_text(yaml.safe_dump(value, allow_unicode=True), "utf-8")
    for verb in ("validate", "resolve"):
        assert_answered(*gym("env", verb, "--config", str(path), "--model", "careful"))


@few
@given(data=st.data())
def test_interpolations_anywhere_have_a_value_or_are_named(folder: Path, data: st.DataObject):
    path = folder / "interpolated.yaml"
    tree = {"a": data.draw(INTERPOLATIONS), "x": {"y": data.draw(INTERPOLATIONS)}, "l": [data.draw(INTERPOLATIONS), {"a": 1}]}
    path.write_text(yaml.safe_dump(tree), "utf-8")
    for verb in ("validate", "resolve"):
        assert_answered(*gym("env", verb, "--config", str(path)))


@few
@given(overrides=st.lists(OVERRIDES, min_size=1, max_size=3))
def test_overrides_of_any_shape_are_applied_or_refused(overrides: list[str]):
    assert_answered(*gym("env", "resolve", "--benchmark", "vera_mh_demo", "--json", *overrides))


@few
@given(data=st.data())
def test_rows_of_any_shape_are_taken_or_refused_before_anything_runs(folder: Path, data: st.DataObject):
    rows = folder / "rows.jsonl"
    line = data.draw(ANY_JSON.map(lambda value: yaml.safe_dump(value)) | MARKS)
    rows.write_bytes(line.encode("utf-8", "surrogatepass"))
    output = folder / "out" / "x.jsonl"
    code, said = gym("eval", "run", "--benchmark", "vera_mh_demo", "--input", str(rows), "--output", str(output), "--overwrite")
    assert code in (0, 1, 2), said
    assert "Traceback" not in said
