# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A run that somebody sent runs nothing that they chose, however it is looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_host.cli.recorded import is_plain
from tests.support.command import Gym

LOOKS = (
    ("show", "sent/run.jsonl"),
    ("show", "sent/run.jsonl", "--list"),
    ("report", "sent/run.jsonl"),
    ("compare", "sent/run.jsonl", "sent/run.jsonl"),
    ("export", "sent/run.jsonl", "--to", "inspect", "--output", "log.json"),
    ("aggregate", "--input-glob", "sent/run.jsonl", "--output", "all.jsonl"),
)
TRAP = "from pathlib import Path\nPath(__file__).with_name('sprung').touch()\n"
SERVER = "vera_mh_demo.resources_servers.vera_mh"


class Sent:
    """A run with programs beside it that tell when they are run."""

    def __init__(self, gym: Gym) -> None:
        self.gym = gym
        self.folder = gym.folder / "sent"
        assert gym("eval", "run", "--benchmark", "vera_mh_demo", "--limit", "1", "--output", "sent/run.jsonl").code == 0
        (self.folder / "run_report.html").unlink()
        for name in ("views.py", "app.py", "other.py"):
            gym.put(f"sent/resources_servers/vera_mh/{name}", TRAP)

    def says(self, **words: Any) -> None:
        path = self.folder / "run_run.json"
        record = json.loads(path.read_bytes())
        path.write_text(json.dumps(record | {"configuration": {"benchmark": ["vera_mh_demo"], **words}}))

    @property
    def sprung(self) -> list[Path]:
        return list(self.folder.rglob("sprung"))


@pytest.fixture
def sent(gym: Gym) -> Sent:
    return Sent(gym)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: " ".join(look[:3]))
def test_a_root_that_the_record_names_is_not_looked_at_until_the_reader_names_it(sent: Sent, look: tuple[str, ...]):
    if look[0] == "export":
        pytest.importorskip("inspect_ai")
    sent.says(search_dir=["sent"])
    said = sent.gym.refuses("eval", *look)
    assert "made with --search-dir sent" in said
    assert "if you trust it, add to the command: --search-dir sent\n" in said
    assert sent.sprung == []
    sent.gym("eval", *look, "--search-dir", "sent")
    assert sent.sprung, "the trap works"


@pytest.mark.parametrize(
    "override",
    [
        f"{SERVER}.entrypoint=other.py",
        f"{SERVER}.entrypoint=../../sent/resources_servers/vera_mh/other.py",
        f"++{SERVER}.entrypoint=other.py",
        "+config_paths=[sent/evil.yaml]",
        "+config_paths.0=evil.yaml",
        f"{SERVER}.pack=sent/pack",
        f"{SERVER}.pack=/sent",
        f"{SERVER}.pack=~",
        f"{SERVER}.pack=..",
        f"{SERVER}.pack='${{oc.env:HOME}}'",
        f"+{SERVER}={{entrypoint: other.py}}",
        "+x={a: b}",
        "+my_model=../x",
        "not an override",
    ],
)
def test_an_override_that_could_lead_to_a_program_or_a_file_has_to_be_repeated(sent: Sent, override: str):
    sent.says(overrides=[override])
    for look in (LOOKS[0], LOOKS[-1]):
        said = sent.gym.refuses("eval", *look)
        assert "if you trust it, add to the command: " in said
        assert override.replace("'", "") in said.replace("'", "").replace('"', "")
    assert sent.sprung == []


@pytest.mark.parametrize(
    "override",
    ["++a.b=3", "a.b=-0.5", "a=true", "~a.b", "+a=", "a.base_url=https://host:1/v1", "+judge_model=maker/model-1:free", "a=1e-3"],
)
def test_an_override_that_sets_a_plain_value_stays(override: str):
    assert is_plain(override)


def test_a_configuration_that_the_record_names_is_told_with_all_words_that_stand_in_for_it(sent: Sent):
    evil = sent.gym.put("sent/my.yaml", "x: 1\n")
    sent.says(config=[str(evil)], search_dir=["a folder"], overrides=["+y=1"])
    said = sent.gym.refuses("eval", "show", "sent/run.jsonl")
    assert f"--benchmark vera_mh_demo --config {evil} --search-dir 'a folder' +y=1\n" in said
    sent.says(config=[str(evil)])
    assert sent.gym("eval", "show", "sent/run.jsonl", "--benchmark", "vera_mh_demo", "--config", evil).code == 0


def test_a_name_that_is_a_path_is_no_name(sent: Sent):
    sent.gym.put("sent/benchmarks/x/config.yaml", "x: 1\n")
    sent.says(benchmark=["../sent/benchmarks/x"])
    assert "there is no benchmark" in sent.gym.refuses("eval", "show", "sent/run.jsonl")
    sent.says(benchmark=[str(sent.folder / "benchmarks/x")])
    assert "there is no benchmark" in sent.gym.refuses("eval", "show", "sent/run.jsonl")


@pytest.mark.parametrize("words", [{"search_dir": "sent"}, {"overrides": {"a": 1}}, {"config": 3, "environment": [None, 4]}])
def test_words_that_are_no_lists_of_texts_say_nothing(sent: Sent, words: dict[str, Any]):
    sent.says(**words)
    assert sent.gym("eval", "show", "sent/run.jsonl").code == 0


def test_words_of_a_record_do_nothing_to_the_terminal(sent: Sent):
    sent.says(search_dir=["\x1b]52;c;eA==\x07\x1b[2Jsent"])
    assert "\x1b" not in sent.gym.refuses("eval", "show", "sent/run.jsonl")
