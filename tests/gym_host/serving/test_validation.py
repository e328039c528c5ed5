# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What can be known to be wrong with a configuration without starting anything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gym_host.config.components import Components
from gym_host.config.configuration import load_config
from gym_host.serving.validation import Validation, validate
from tests.support.components import SumsRoot, sum_row

SPOKEN = """
from tests.support.sums_server import Settings, create_app

def validate(settings):
    return [] if settings.greeting == "hello" else [f"nobody is greeted with {settings.greeting}"]
"""


REMARKED = """
from types import SimpleNamespace
from tests.support.sums_server import Settings, create_app

def validate(settings):
    def remark(what, is_error):
        return SimpleNamespace(what=what, place="sheet.tsv, row 3", mend="mend it", is_error=is_error)
    return [remark("wrong", True), remark("odd", False)]
"""


@pytest.fixture
def root(tmp_path: Path) -> SumsRoot:
    return SumsRoot(tmp_path / "root", [sum_row(1)])


def validated(root: SumsRoot, text: str = "", *overrides: str, environ: Mapping[str, str] | None = None) -> Validation:
    """The benchmark `sums` with a further file on top."""
    components = Components((root.path,))
    (root.path / "more.yaml").write_text(text)
    config = load_config(
        components,
        [components.benchmark("sums"), root.path / "more.yaml"],
        overrides,
        cwd=root.path,
        environ={},
        resolve=False,
    )
    return validate(config, components, environ or {})


def told(validation: Validation) -> list[str]:
    return [str(fault) for fault in validation.faults]


def only(validation: Validation) -> str:
    assert len(validation.faults) == 1, told(validation)
    return told(validation)[0]


AGENT = "sums.responses_api_agents.sums_agent"


def test_a_configuration_without_fault_is_counted(root: SumsRoot):
    found = validated(root)
    assert found.faults == ()
    assert [server.name for server in found.servers] == ["sums", "sums_verifier"]
    assert [dataset.name for dataset in found.datasets] == ["sums"]
    assert found.skipped == ()


def test_a_wrong_key_is_named_with_the_right_one(root: SumsRoot):
    said = only(validated(root, "", f"+{AGENT}.gretting=hello"))
    assert "there is no setting `gretting`" in said
    assert f"where: {AGENT}.gretting" in said
    assert "did you mean `greeting`?" in said


def test_every_fault_is_told_not_only_the_first(root: SumsRoot):
    text = "sums_verifier: {resources_servers: {sums_verifier: {bonus: much, port: 70000}}}"
    said = "\n".join(told(validated(root, text, f"+{AGENT}.gretting=x", f"{AGENT}.resources_server.name=nobody")))
    for part in ("`gretting`", "`nobody`", "bonus = 'much'", "70000 is no port"):
        assert part in said


def test_what_is_not_set_is_told_once_and_nothing_is_said_of_its_kind(root: SumsRoot):
    text = (
        "sums: {responses_api_agents: {sums_agent: {num_concurrent_requests: '${oc.env:HOW_MANY}', greeting: '${word}'}}}\n"
        "sums_verifier: {resources_servers: {sums_verifier: {greeting: '${word}', port: '${oc.env:HOW_MANY}'}}}"
    )
    first, second = told(validated(root, text))
    assert "`HOW_MANY` is not set in the environment" in first
    assert "`word` is not set" in second
    assert "give word=..." in second
    assert told(validated(root, text, "+word=hi", environ={"HOW_MANY": "5"})) == []
    assert "num_concurrent_requests" in only(
        validated(root, text.replace("port", "bonus"), "+word=x", environ={"HOW_MANY": "1.5"})
    )


def test_a_value_behind_a_value_that_is_not_set_is_not_set_either(root: SumsRoot):
    text = "one: '${two}'\ntwo: '${oc.env:THREE}'\n_four: [1, '${one}-x']"
    assert {"`THREE` is not set" in said for said in told(validated(root, text))} == {True}


def test_a_server_of_the_host_next_door_is_left_out_and_one_that_is_needed_is_missed(root: SumsRoot):
    text = "relay: {environment_servers: {legacy_agent: {agent_server: {type: responses_api_agents, name: sums}}}}"
    found = validated(root, text)
    assert found.faults == ()
    assert [(skipped.name, skipped.folder) for skipped in found.skipped] == [("relay", "legacy_agent")]
    other = "other: {resources_servers: {not_ours: {}}}"
    assert "which is not among our components" in only(validated(root, other, f"{AGENT}.resources_server.name=other"))


def test_a_program_that_is_not_there_or_cannot_be_imported_is_named(root: SumsRoot):
    said = only(validated(root, "", f"{AGENT}.entrypoint=ap.py"))
    assert "there is no program `ap.py`" in said
    assert f"{AGENT}.entrypoint" in said
    (root.path / "responses_api_agents/sums_agent/app.py").write_text("import a_package_that_nobody_has")
    assert "No module named 'a_package_that_nobody_has'" in only(validated(root))


def test_a_program_may_say_more_but_only_when_its_settings_are_known(root: SumsRoot):
    (root.path / "responses_api_agents/sums_agent/app.py").write_text(SPOKEN)
    assert told(validated(root)) == []
    said = only(validated(root, "", f"+{AGENT}.greeting=hey"))
    assert said == f"nobody is greeted with hey\n  where: {AGENT}"
    assert "is not set" in only(validated(root, "sums: {responses_api_agents: {sums_agent: {greeting: '${x}'}}}"))


def test_what_two_programs_say_of_the_same_place_is_told_once_with_both_and_a_warning_is_no_fault(root: SumsRoot):
    for program in ("responses_api_agents/sums_agent", "resources_servers/sums_verifier"):
        (root.path / program / "app.py").write_text(REMARKED)
    found = validated(root)
    where = f"sheet.tsv, row 3, for {AGENT}, sums_verifier.resources_servers.sums_verifier"
    assert only(found) == f"wrong\n  where: {where}\n  to mend it: mend it"
    assert [str(warning) for warning in found.warnings] == [f"odd\n  where: {where}\n  to mend it: mend it"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{name: more, type: example, jsonl_fpath: nowhere.jsonl}", "are missing, and no prepare_script makes them"),
        ("{name: more, type: example, jsonl_fpath: x.jsonl, prepare_script: prepaer.py}", "no file or folder `prepaer.py`"),
        ("{name: more, type: example}", "a dataset lacks `jsonl_fpath`"),
        ("{name: more, type: example, jsonl_fpath: benchmarks/sums/rows.jsonl, num_repeats: 0}", "num_repeats is 0"),
        ("rows.jsonl", "sums.responses_api_agents.sums_agent.datasets.0 = 'rows.jsonl'"),
    ],
)
def test_data_that_is_not_there_is_named(root: SumsRoot, entry: str, said: str):
    found = only(validated(root, f"sums: {{responses_api_agents: {{sums_agent: {{datasets: [{entry}]}}}}}}"))
    assert said in found
    assert "sums" in found


def test_an_entry_that_is_shaped_wrongly_is_told(root: SumsRoot):
    said = only(validated(root, "sums: {responses_api_agents: {other: {}}}"))
    assert "`sums` names more than one folder" in said


def test_two_servers_that_want_one_port_are_named(root: SumsRoot):
    text = "sums_verifier: {resources_servers: {sums_verifier: {port: 81}}}"
    assert "both want port 81" in only(validated(root, text, f"+{AGENT}.port=81"))


def test_secrets_stay_out_of_what_is_told(root: SumsRoot):
    text = "sums: {responses_api_agents: {sums_agent: {api_key: [sk-this-is-a-secret-key]}}}"
    said = only(validated(root, text))
    assert "api_key" in said
    assert "this-is-a-secret" not in said
