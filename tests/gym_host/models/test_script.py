# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml

from gym_host.errors import ConfigError
from gym_host.models.script import Script, load_script


def script(*rules: dict[str, object], **settings: object) -> Script:
    return Script.model_validate({"otherwise": "otherwise", "rules": list(rules), **settings})


def chat(*contents: str, system: str | None = None) -> list[dict[str, str]]:
    """Messages of a chat that the user begins."""
    messages = [{"role": "user" if n % 2 == 0 else "assistant", "content": content} for n, content in enumerate(contents)]
    return [{"role": "system", "content": system}, *messages] if system is not None else messages


def talk(model: Script, *said_by_user: str) -> list[str]:
    """The model's replies to the user's messages, each put back into the conversation."""
    contents: list[str] = []
    for text in said_by_user:
        contents.append(text)
        contents.append(model.reply(chat(*contents)))
    return contents[1::2]


def test_the_first_rule_whose_conditions_hold_speaks():
    model = script(
        {"when": {"latest": "rain"}, "say": "umbrella"}, {"when": {"latest": "rain|sun"}, "say": "hat"}, {"say": "anything"}
    )
    assert [model.reply(chat(text)) for text in ("it will rain", "sun", "fog")] == ["umbrella", "hat", "anything"]


def test_without_a_rule_that_speaks_the_script_says_otherwise():
    assert script({"when": {"latest": "rain"}, "say": "umbrella"}).reply(chat("sun")) == "otherwise"


def test_a_regex_is_found_anywhere_in_the_text_in_upper_and_lower_case():
    assert script({"when": {"latest": "good (morning|evening)"}, "say": "hello"}).reply(chat("well, GOOD Evening!")) == "hello"


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({"system": "you are ana"}, True),
        ({"system": "you are ben"}, False),
        ({"latest": "third"}, True),
        ({"latest": "first"}, False),
        ({"heard": "first"}, True),
        ({"heard": "second"}, False),
        ({"never_heard": "second"}, True),
        ({"never_heard": "first"}, False),
        ({"said": "second"}, True),
        ({"said": "third"}, False),
        ({"never_said": "third"}, True),
        ({"never_said": "second"}, False),
        ({"heard": "first", "said": "second", "latest": "third"}, True),
        ({"heard": "first", "said": "first"}, False),
    ],
)
def test_conditions_look_at_the_system_message_the_latest_one_and_either_side(when, holds):
    messages = chat("the first", "the second", "the third", system="You are Ana.")
    assert script({"when": when, "say": "yes"}).reply(messages) == ("yes" if holds else "otherwise")


def test_the_nth_time_a_rule_says_its_nth_line_and_the_last_line_repeats():
    assert talk(script({"say": ["one", "two"]}), "a", "b", "c", "d") == ["one", "two", "two", "two"]


def test_a_rule_that_speaks_once_is_passed_over_when_its_lines_are_said():
    assert talk(script({"say": ["one", "two"], "once": True}, {"say": "more"}), "a", "b", "c", "d") == [
        "one",
        "two",
        "more",
        "more",
    ]


def test_a_rule_in_between_does_not_cost_another_rule_its_place():
    model = script({"when": {"latest": "why"}, "say": "because", "once": True}, {"say": ["one", "two", "three"]})
    assert talk(model, "a", "why", "b", "c") == ["one", "because", "two", "three"]


def test_a_group_is_entered_only_when_its_condition_holds_and_left_when_no_rule_in_it_speaks():
    model = script(
        {
            "when": {"heard": "ana"},
            "rules": [{"when": {"latest": "tea"}, "say": "with milk"}, {"once": True, "say": "hello ana"}],
        },
        {"say": "hello"},
    )
    assert model.reply(chat("tea")) == "hello"
    assert talk(model, "ana here", "tea", "what?") == ["hello ana", "with milk", "hello"]


def test_a_reply_depends_on_the_messages_alone():
    model = script({"say": ["one", "two", "three"]})
    ahead = chat("a", "one", "b", "two", "c")
    assert [model.reply(messages) for messages in (ahead, ahead[:1], ahead, ahead[:3])] == ["three", "one", "three", "two"]


def test_white_space_around_an_earlier_reply_does_not_make_a_line_be_said_again():
    assert script({"say": ["one", "two"]}).reply(chat("a", "one\n", "b")) == "two"


def test_a_mapping_is_spoken_as_a_json_object():
    reply = script({"say": {"answer": "Yes", "reasoning": 'the word "tea", and café'}}).reply(chat("a"))
    assert json.loads(reply) == {"answer": "Yes", "reasoning": 'the word "tea", and café'}
    assert "café" in reply


def test_what_stands_before_the_marker_in_a_user_message_was_not_heard():
    model = script({"when": {"heard": "secret"}, "say": "heard"}, heard_after="They wrote:")
    assert model.reply(chat("a secret rule\nThey wrote:\nhello")) == "otherwise"
    assert model.reply(chat("keep this\nThey wrote:\na secret")) == "heard"
    assert model.reply(chat("a secret without a marker")) == "heard"


def test_a_system_prompt_alone_is_answered_too():
    assert script({"say": "hello"}).reply(chat(system="You are Ana.")) == "hello"


TRANSCRIPT = """Judge this.
<log>
user: I like tea.

chatbot: Noted:

1. tea
2. user: is not a label in the middle of a line

user: And milk.
[the end]
</log>
The word coffee stands outside."""


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({"user_said": "like tea"}, True),
        ({"user_said": "and milk"}, True),
        ({"user_said": "noted"}, False),
        ({"user_never_said": "noted"}, True),
        ({"chatbot_said": r"(?m)^2\. "}, True),
        ({"chatbot_said": "in the middle"}, True),
        ({"chatbot_said": "milk"}, False),
        ({"chatbot_never_said": "milk"}, True),
        ({"chatbot_never_said": "noted"}, False),
        ({"user_said": "coffee"}, False),
        ({"chatbot_said": "coffee"}, False),
        ({"user_said": "tea", "chatbot_said": "tea"}, True),
    ],
)
def test_a_judge_looks_at_the_two_sides_of_the_transcript_in_the_system_message(when, holds):
    model = script({"when": when, "say": "yes"}, transcript={"begin": "<log>", "end": "</log>"})
    assert model.reply(chat("which?", system=TRANSCRIPT)) == ("yes" if holds else "otherwise")


@pytest.mark.parametrize("system", ["no markers", "<log>\nuser: tea", "user: tea\n</log>", ""])
def test_without_a_transcript_both_sides_are_silent(system):
    model = script({"when": {"user_never_said": "tea"}, "say": "silent"}, transcript={"begin": "<log>", "end": "</log>"})
    assert model.reply(chat("which?", system=system)) == "silent"


def test_a_transcript_may_label_its_speakers_otherwise():
    model = script(
        {"when": {"user_said": "tea", "chatbot_said": "milk"}, "say": "yes"},
        transcript={"begin": "<", "end": ">", "user": "U> ", "chatbot": "C> "},
    )
    assert model.reply(chat("?", system="<\nU> tea\nC> milk\n>")) == "yes"


def test_a_reply_late_in_a_long_conversation_takes_well_below_a_millisecond():
    rules = [{"when": {"latest": f"word{n}|term{n}"}, "once": True, "say": f"line {n}"} for n in range(40)]
    model = script(*rules, {"say": [f"line {n}" for n in range(100)]})
    messages = chat(*["a few dozen words of everyday length " * 8] * 29)
    model.reply(messages)
    took = []
    for _ in range(20):
        started = time.perf_counter()
        model.reply(messages)
        took.append(time.perf_counter() - started)
    assert min(took) < 0.001


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_script_is_read_from_a_yaml_file(tmp_path):
    rules = [{"when": {"latest": "tea"}, "say": "with milk"}]
    path = write(tmp_path, yaml.safe_dump({"otherwise": {"answer": "No"}, "rules": rules}))
    model = load_script(path)
    assert [model.reply(chat(text)) for text in ("tea", "rum")] == ["with milk", '{"answer": "No"}']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("otherwise: x\nrules: [{say: y, onec: true}]", ["rules[0].onec", "did you mean `once`?"]),
        ("otherwise: x\nrules: [{say: y, when: {latset: y}}]", ["rules[0].when.latset", "did you mean `latest`?"]),
        ("otherwise: x\nrule: []\nrules: [{say: y}]", ["key rule", "did you mean `rules`?"]),
        ("otherwise: x\ntranscript: {begin: a, ende: b}\nrules: [{say: y}]", ["transcript.end"]),
        ("otherwise: x\nrules: [{say: y, when: {latest: '('}}]", ["rules[0].when.latest", "is not a regular expression"]),
        (
            "otherwise: x\nrules: [{say: y, when: {latest: 3}}]",
            ["rules[0].when.latest", "must be a regular expression in quotes"],
        ),
        ("otherwise: x\nrules: [{say: {answer: Yes}}]", ["rules[0].say", "in quotes"]),
        ("otherwise: x\nrules: [{say: [a, No]}]", ["rules[0].say", "in quotes"]),
        ("otherwise: x\nrules: [{when: {latest: y}}]", ["rules[0]", "either lines to say"]),
        ("otherwise: x\nrules: [{say: y, rules: [{say: z}]}]", ["rules[0]", "either lines to say"]),
        ("otherwise: x\nrules: [{once: true, rules: [{say: z}]}]", ["rules[0]", "`once` belongs to"]),
        ("otherwise: x\nrules: [{rules: [{say: z, when: {chatbot_said: y}}]}]", ["`chatbot_said`", "`transcript`"]),
        ("otherwise: x\nrules: []", ["key rules"]),
        ("rules: [{say: y}]", ["key otherwise"]),
        ("otherwise: [", ["not valid YAML", "line 1"]),
        ("otherwise: !!python/name:os.system x", ["not valid YAML"]),
        ("", ["empty or not a mapping"]),
        ("- a", ["empty or not a mapping"]),
    ],
)
def test_a_script_that_is_not_right_is_refused_naming_the_file_and_the_key(tmp_path, text, expected):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_script(path)
    message = str(caught.value)
    assert [part for part in [str(path), *expected] if part not in message] == []
    assert len(message.splitlines()) <= 3


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_script_that_cannot_be_read_is_refused_naming_the_file(tmp_path, content):
    path = tmp_path / "script.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_script(path)
