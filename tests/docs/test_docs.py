# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the documents name exists: pages, links, paths, commands, flags, settings, metrics and environment variables."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from gym_host.cli.main import build_parser
from gym_host.cli.parser import Parser, parse
from gym_host.cli.setup import load_setup
from gym_host.config.scripts import load, tools
from gym_host.config.settings import ServerSettings
from gym_host.serving.validation import validate
from resources_servers.vera_mh.app import Settings as VerifierSettings
from responses_api_models.inference_provider.app import Settings as EndpointSettings
from vera_mh.metrics import compute_metrics

PROJECT = Path(__file__).parents[2]
FERN = PROJECT / "fern"
PAGES = sorted(FERN.glob("pages/**/*.md*"))
NOT_OURS = {line.strip("/") for line in (PROJECT / ".gitignore").read_text().splitlines() if line.endswith("/")}
FOLDERS = sorted(path for path in PROJECT.iterdir() if path.is_dir() and path.name[0] != "." and path.name not in NOT_OURS)

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
VARIABLE = re.compile(r"\b(?:VERA_MH|NEMO_GYM|INTEROP)_[A-Z0-9_]*[A-Z0-9]\b")
MADE_BY_PREPARE = re.compile(r"benchmarks/\w+/data/")


def name_of(value: object) -> str:
    return str(value.relative_to(PROJECT)) if isinstance(value, Path) else str(value)


def files(pattern: str) -> list[Path]:
    """Files of the project, without those of environments that lie in its folders."""
    found = [path for folder in FOLDERS for path in sorted(folder.rglob(pattern))]
    return [path for path in found if not any(part[0] == "." for part in path.relative_to(PROJECT).parts)]


DOCUMENTS = [*sorted(PROJECT.glob("*.md")), *files("*.md")]


def prose(document: Path) -> str:
    """A document without its fenced blocks."""
    return FENCE.sub("", document.read_text())


@cache
def commands(document: Path) -> tuple[str, ...]:
    """The commands of its console blocks, each in one line."""
    blocks = (block.replace("\\\n", " ") for kind, block in FENCE.findall(document.read_text()) if kind == "console")
    return tuple(line.strip()[2:] for block in blocks for line in block.splitlines() if line.strip().startswith("$ "))


def words_of(command: str) -> list[str]:
    """The words of a command up to a pipe, a redirection or an ampersand, without the variables set in front of it."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.wordchars += ":+@%,[]$"
    words: list[str] = []
    for word in lexer:
        if set(word) <= set("|&;<>()"):
            break
        if words or not re.fullmatch(r"[A-Z_0-9]+=.*", word):
            words.append(word)
    return words


def gym_commands() -> dict[str, list[str]]:
    """The words of every `gym` command that is shown, by the place where it is shown."""
    found: dict[str, list[str]] = {}
    for document in DOCUMENTS:
        for command in commands(document):
            words = words_of(command)
            if words and words[0].rpartition("/")[2] == "gym":
                found[f"{name_of(document)}: {' '.join(words)}"] = words
    return found


def changes_configuration(words: list[str]) -> bool:
    """Whether a command of ours has overrides, and is not shown for what is wrong with them."""
    theirs = words[0].startswith("../")
    others = words[1] == "tool" or words[1:3] in (["env", "test"], ["env", "validate"])
    return not (theirs or others) and any("=" in word or word[0] == "~" for word in words[1:])


GYM = gym_commands()
OVERRIDING = {name: words for name, words in GYM.items() if changes_configuration(words)}


def parsers(parser: Parser, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Parser]]:
    """All words of the command that take flags, with their parsers."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action.choices, dict):
            for word, under in action.choices.items():
                yield from parsers(under, (*path, word))


@cache
def tool_parsers() -> dict[tuple[str, ...], Parser]:
    """The parsers of the tools that benchmarks bring along, where they have one, by the words that come before theirs."""
    found: dict[tuple[str, ...], Parser] = {}
    for config in sorted(PROJECT.glob("benchmarks/*/config.yaml")):
        for tool in tools(config.parent):
            build = getattr(load(tool.path), "build_parser", None)
            if build is not None:
                found["tool", config.parent.name, tool.name] = build()
    return found


# Links and paths


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def headings(document: Path) -> set[str]:
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_relative_link_leads_somewhere(document: Path):
    for target in LINK.findall(prose(document)):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        linked = (document.parent / file).resolve() if file else document
        assert linked.exists(), target
        assert not anchor or anchor in headings(linked), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_picture_is_there_is_described_and_is_small(document: Path):
    for description, target in PICTURE.findall(prose(document)):
        assert len(description) > 20
        assert (document.parent / target).stat().st_size < 200_000


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_path_in_the_project_that_is_named_exists(document: Path):
    words = [word for command in commands(document) for one in words_of(command) for word in one.split("=")]
    for named in [*SPAN.findall(prose(document)), *words]:
        if "/" not in named or PATH.fullmatch(named) is None or named.startswith("..") or re.search(r"[A-Z]{2,}$|\.\.\.", named):
            continue
        bases = [base for base in (document.parent, PROJECT) if (base / named.split("/")[0]).is_dir()]
        if not bases or named.split("/")[0] in NOT_OURS:
            continue
        paths = [base / named for base in bases]
        generated = any(MADE_BY_PREPARE.match(name_of(path)) for path in paths if path.is_relative_to(PROJECT))
        assert generated or any(path.exists() for path in paths), named


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_module_that_is_named_without_its_folder_is_one_of_the_project(document: Path):
    named = {name for name in SPAN.findall(prose(document)) if re.fullmatch(r"\w+\.py", name)}
    assert named <= {path.name for path in files("*.py")}


# The pages


def navigation() -> list[dict[str, str]]:
    def pages(items: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
        for item in items:
            if "page" in item:
                yield item
            yield from pages(item.get("contents", []))

    return list(pages(yaml.safe_load((FERN / "docs.yml").read_text())["navigation"]))


def test_the_navigation_names_exactly_the_pages_that_there_are():
    assert sorted(FERN / entry["path"] for entry in navigation()) == PAGES


@pytest.mark.parametrize("entry", navigation(), ids=lambda entry: entry["path"])
def test_a_page_has_the_title_under_which_the_navigation_lists_it(entry: dict[str, str]):
    _, front, text = (FERN / entry["path"]).read_text().split("---\n", 2)
    assert yaml.safe_load(front)["title"] == entry["page"]
    assert yaml.safe_load(front)["description"]
    assert not re.search(r"^# ", FENCE.sub("", text), re.MULTILINE), "the title is the heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_has_no_sign_outside_of_code_that_mdx_reads_as_a_tag_or_an_expression(page: Path):
    assert re.findall(r"[<{}]", SPAN.sub("", prose(page))) == []


# Commands


@pytest.mark.parametrize("words", GYM.values(), ids=GYM)
def test_every_gym_command_that_is_shown_can_be_parsed(words: list[str], capsys):
    assert code_of_parsing(words[1:]) == 0, capsys.readouterr().err


def code_of_parsing(words: list[str]) -> object:
    """0 if the words can be parsed, or are answered at once, as `--version` is."""
    try:
        parse(build_parser(), words)
        if words[0] == "tool" and len(words) > 2:
            tool_parsers()[tuple(words[:3])].parse_args(words[3:])
    except SystemExit as end:
        return end.code
    return 0


@pytest.mark.parametrize("words", OVERRIDING.values(), ids=OVERRIDING)
def test_every_override_that_is_shown_fits_the_configuration(words: list[str], monkeypatch):
    monkeypatch.chdir(PROJECT)
    setup = load_setup(parse(build_parser(), words[1:]), resolve=False)
    found = [fault.what for fault in validate(setup.config, setup.components, os.environ).faults]
    # What the reader sets elsewhere, keys and endpoints, is not set here; nor is the reader's own pack here.
    elsewhere = (" is not set", " is set in the environment", "my_pack is not a pack: it has no manifest.yaml")
    assert [what for what in found if not what.endswith(elsewhere)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_flag_that_is_named_in_a_sentence_exists(document: Path):
    known = {words: set(parser.words()) for words, parser in parsers(build_parser())}
    for path, tool in tool_parsers().items():
        known |= {words: set(parser.words()) for words, parser in parsers(tool, path)}
    anywhere = set().union(*known.values())
    for span in SPAN.findall(prose(document)):
        words = span.split()
        flags = {word.split("=")[0] for word in words if word.startswith("--")}
        if words[0] == "gym":
            verb = next((path for path in sorted(known, key=len, reverse=True) if tuple(words[1 : 1 + len(path)]) == path), ())
            assert verb or len(words) == 1, span
            assert flags <= known[verb] | {"--help"}, span
        elif words[0].startswith("--"):
            assert flags <= anywhere, span


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_make_target_and_every_flag_of_an_example_exists(document: Path):
    targets = set(re.findall(r"^(\w+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    shown = [words_of(command) for command in commands(document)]
    spans = [span.split() for span in SPAN.findall(prose(document)) if span.startswith("make ")]
    for words in [*shown, *spans]:
        if words[:1] == ["make"]:
            assert {word for word in words[1:] if "=" not in word} <= targets
        if words and words[0].endswith("python") and words[1].endswith(".py"):
            source = (PROJECT / words[1]).read_text()
            assert all(f'"{word}"' in source for word in words[2:] if word.startswith("--")), words


# Names


def tables(document: Path, head: str) -> Iterator[list[str]]:
    """The names in the first column of its tables whose first heading is `head`."""
    for table in re.findall(rf"^\| {head} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", document.read_text(), re.MULTILINE):
        yield [name for row in table.splitlines() for name in SPAN.findall(row.split("|")[1])]


def own_settings(settings: type[ServerSettings]) -> set[str]:
    return set(settings.model_fields) - set(ServerSettings.model_fields)


@pytest.mark.parametrize(
    ("document", "head", "settings"),
    [
        ("fern/pages/servers.md", "setting", EndpointSettings),
        ("responses_api_models/inference_provider/README.md", "setting", EndpointSettings),
        ("resources_servers/vera_mh/README.md", "key", VerifierSettings),
    ],
)
def test_a_table_of_settings_holds_all_settings_and_no_others(document: str, head: str, settings: type[ServerSettings]):
    (names,) = tables(PROJECT / document, head)
    assert sorted(names) == sorted(own_settings(settings))


def test_every_metric_in_a_table_is_one_that_a_run_has():
    rows = (PROJECT / "resources_servers/vera_mh/data/example_rollouts.jsonl").read_bytes().splitlines()
    metrics = compute_metrics(json.loads(row) for row in rows)
    named = [name for page in PAGES for table in tables(page, "metric") for name in table]
    assert len(named) > 20
    assert set(named) <= set(metrics)


def test_every_environment_variable_that_is_named_is_read_somewhere():
    sources = [path for path in [PROJECT / "Makefile", *files("*.py"), *files("*.yaml")] if path != Path(__file__)]
    known = {name for path in sources for name in VARIABLE.findall(path.read_text())}
    for document in DOCUMENTS:
        assert set(VARIABLE.findall(document.read_text())) <= known, document
