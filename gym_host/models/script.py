# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A scripted model: what it says is a function of the messages alone.

A script is a YAML file with a list of rules. The first rule whose conditions hold, and that has a line left, speaks:

    otherwise: I have nothing to say to that.        # when no rule speaks
    rules:
      - when: {latest: 'good (morning|evening)'}     # regexes, upper and lower case alike
        say: Hello.
      - when: {heard: weather, never_said: umbrella} # all conditions of a rule must hold
        once: true
        say: [It may rain., Take an umbrella.]       # the n-th time, the n-th line
      - when: {system: 'You are Ana'}                # a group: its rules are looked at in turn
        rules:
          - say: {answer: "Yes", reasoning: "..."}   # a mapping is spoken as a JSON object

The last line of a rule repeats; with `once` the rule is then passed over and the next one is looked at. How many lines a rule has
spoken is read off the conversation: as many as there are earlier assistant messages that are lines of it. So nothing is kept
between calls, any number of conversations can run at once, and a re-run says the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError, model_validator

from gym_host.errors import ConfigError
from gym_host.wording import suggestion


def _compile(value: object) -> re.Pattern[str]:
    if not isinstance(value, str):
        raise ValueError(f"must be a regular expression in quotes, not {value!r}")
    try:
        return re.compile(value, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error


def _line(value: object) -> str:
    """One thing to say: a text as it stands (stripped), a mapping of texts as a JSON object."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping) and all(isinstance(item, str) for pair in value.items() for item in pair):
        return json.dumps(dict(value), ensure_ascii=False)
    # An unquoted Yes or No is a truth value in YAML: worth a word, because every script of a judge is full of them.
    raise ValueError(f"must be a text or a mapping of texts, not {value!r} (put words such as Yes and No in quotes)")


def _lines(value: object) -> tuple[str, ...]:
    return tuple(_line(item) for item in value) if isinstance(value, list) else (_line(value),)


Regex = Annotated[re.Pattern[str], PlainValidator(_compile)]
Line = Annotated[str, BeforeValidator(_line)]
Lines = Annotated[tuple[str, ...], BeforeValidator(_lines)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Transcript(_Part):
    """Where a transcript stands in the system message: between two markers; a label at a line's start begins a turn."""

    begin: str = Field(min_length=1)
    end: str = Field(min_length=1)
    user: str = "user: "
    chatbot: str = "chatbot: "

    def sides(self, system: str) -> tuple[str, str]:
        """Splits the transcript in a system message by speaker.

        Returns:
            What the user said and what the chatbot said, each with its turns joined by blank lines.
        """
        text = system.partition(self.begin)[2].rpartition(self.end)[0]
        labels = f"^({re.escape(self.user)}|{re.escape(self.chatbot)})"
        pieces = re.split(labels, text, flags=re.MULTILINE)
        turns = list(zip(pieces[1::2], pieces[2::2], strict=True))
        user, chatbot = (
            "\n\n".join(said.strip() for label, said in turns if label == side) for side in (self.user, self.chatbot)
        )
        return user, chatbot


@dataclass(frozen=True, slots=True)
class _Scene:
    """The texts that conditions are about, once per reply."""

    system: str
    latest: str
    heard: str
    said: str
    own: tuple[str, ...]
    user: str
    chatbot: str


class When(_Part):
    """The conditions of a rule; those that are given must all hold.

    `heard` is the whole of the user's messages, `said` the whole of the model's own earlier ones. The last four are about the two
    speakers of a transcript that stands in the system message.
    """

    system: Regex | None = None
    latest: Regex | None = None
    heard: Regex | None = None
    never_heard: Regex | None = None
    said: Regex | None = None
    never_said: Regex | None = None
    user_said: Regex | None = None
    user_never_said: Regex | None = None
    chatbot_said: Regex | None = None
    chatbot_never_said: Regex | None = None

    def hold(self, scene: _Scene) -> bool:
        for name, text, wanted in _CONDITIONS:
            pattern = getattr(self, name)
            if pattern is not None and (pattern.search(getattr(scene, text)) is not None) is not wanted:
                return False
        return True


# Condition, the text of the scene that it is about, whether the regex must be found there. The short texts first.
_CONDITIONS = (
    ("latest", "latest", True),
    ("system", "system", True),
    ("heard", "heard", True),
    ("never_heard", "heard", False),
    ("said", "said", True),
    ("never_said", "said", False),
    ("user_said", "user", True),
    ("user_never_said", "user", False),
    ("chatbot_said", "chatbot", True),
    ("chatbot_never_said", "chatbot", False),
)
_OF_TRANSCRIPT = tuple(name for name, text, _ in _CONDITIONS if text in ("user", "chatbot"))


class Rule(_Part):
    """Conditions, and either lines to say or further rules."""

    when: When = When()
    say: Lines = ()
    once: bool = False
    rules: tuple[Rule, ...] = ()

    @model_validator(mode="after")
    def _say_or_rules(self) -> Self:
        if bool(self.say) == bool(self.rules):
            raise ValueError("a rule has either lines to say (`say`) or further rules (`rules`)")
        if self.once and not self.say:
            raise ValueError("`once` belongs to a rule that says lines")
        return self

    def reply(self, scene: _Scene) -> str | None:
        if not self.when.hold(scene):
            return None
        if self.rules:
            return _first_reply(self.rules, scene)
        spoken = sum(message in self.say for message in scene.own)
        if spoken < len(self.say):
            return self.say[spoken]
        return None if self.once else self.say[-1]


def _first_reply(rules: Sequence[Rule], scene: _Scene) -> str | None:
    return next((line for rule in rules if (line := rule.reply(scene)) is not None), None)


class Script(_Part):
    """All that a scripted model knows."""

    otherwise: Line
    rules: tuple[Rule, ...] = Field(min_length=1)
    heard_after: str | None = None
    """A marker: what stands before it in a user message (an instruction to the model, say) is not what was heard."""
    transcript: Transcript | None = None

    @model_validator(mode="after")
    def _transcript_where_needed(self) -> Self:
        if self.transcript is None and (name := next(_transcript_conditions(self.rules), None)):
            raise ValueError(f"a rule asks `{name}`, so `transcript` must say where the transcript stands")
        return self

    def reply(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Says what the script has for a conversation.

        Args:
            messages: Chat messages in order, each with `role` (`system`, `user` or `assistant`) and `content`.

        Returns:
            The line of the first rule that speaks, or `otherwise`.
        """
        line = _first_reply(self.rules, self._scene(messages))
        return self.otherwise if line is None else line

    def _scene(self, messages: Sequence[Mapping[str, str]]) -> _Scene:
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        heard = [self._heard(message["content"]) for message in messages if message["role"] == "user"]
        own = tuple(message["content"].strip() for message in messages if message["role"] == "assistant")
        user, chatbot = self.transcript.sides(system) if self.transcript else ("", "")
        latest = heard[-1] if heard else ""
        return _Scene(system, latest, "\n\n".join(heard), "\n\n".join(own), own, user, chatbot)

    def _heard(self, content: str) -> str:
        before, marker, after = content.partition(self.heard_after) if self.heard_after else (content, "", "")
        return after if marker else before


def _transcript_conditions(rules: Sequence[Rule]) -> Iterator[str]:
    for rule in rules:
        yield from (name for name in _OF_TRANSCRIPT if getattr(rule.when, name) is not None)
        yield from _transcript_conditions(rule.rules)


def load_script(path: Path) -> Script:
    """Reads a script.

    Raises:
        ConfigError: The file cannot be read, is not YAML or is not a script; names the file and the key.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The script cannot be read: {error}", where=str(path)) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"The script is not valid YAML: {' '.join(str(error).split())}", where=str(path)) from error
    if not isinstance(data, dict):
        raise ConfigError("The script is empty or not a mapping.", where=str(path), mend="write `otherwise:` and `rules:` in it")
    try:
        return Script.model_validate(data)
    except ValidationError as error:
        raise _config_error(path, error) from error


def _config_error(path: Path, error: ValidationError) -> ConfigError:
    first = error.errors(include_url=False)[0]
    loc = first["loc"]
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    where = f"{path}, key {key}" if key else str(path)
    if first["type"] == "extra_forbidden":
        mend = suggestion(str(loc[-1]), _part_at(loc[:-1]).model_fields)
        return ConfigError("The script has a key that is not known.", where=where, mend=mend)
    return ConfigError(f"The script is not right: {first['msg'].removeprefix('Value error, ')}", where=where)


def _part_at(loc: tuple[int | str, ...]) -> type[_Part]:
    parent = loc[-1] if loc else None
    if isinstance(parent, int):
        return Rule
    named: dict[str, type[_Part]] = {"when": When, "transcript": Transcript}
    return named.get(str(parent), Script)
