# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Reads conversations that are there already so that they can be judged, and writes a run in upstream's layout."""

from __future__ import annotations

import argparse
import codecs
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import orjson

from gym_host.atomic import write_json, write_whole
from gym_host.cli.main import main as gym
from gym_host.cli.parser import Parser
from gym_host.distribution import versions
from gym_host.errors import OutputError, UserError
from gym_host.jsonl import pass_over_torn, read_lines, say_torn
from gym_host.runs.keys import FAILURE_CLASS
from gym_host.runs.links import files_to_write
from gym_host.runs.outputs import refuse_existing
from gym_host.runs.run_files import RunFiles
from gym_host.runs.run_record import now, read_record_if_any
from gym_host.wording import counted
from vera_mh.errors import ChatLogError, PackError, RowError, RubricError, TranscriptError
from vera_mh.exchange.chat_log import ChatLog, parse_chat_logs
from vera_mh.exchange.recorded import Recorded, recorded_rollout, recorded_row
from vera_mh.exchange.upstream_layout import CONVERSATIONS, upstream_files
from vera_mh.exchange.upstream_names import model_token, read_name
from vera_mh.models import Json
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS, VERA_MH, open_pack, vera_mh_folder
from vera_mh.persona import Persona, read_personas
from vera_mh.transcript import LabelLines, parse_transcript
from vera_mh.turns import Turn

ROOT = Path(__file__).parents[2]
ENDINGS = (".txt", ".json", ".jsonl")
_READ = "read_from"
"""Key of a record that tells conversations that were read from those of a run."""
_AS_JSON = 'give the conversation as JSON: a list of {"role": "user" or "assistant", "content": text}'


def build_parser() -> Parser:
    """The words of the tool."""
    parser = Parser(prog="gym tool vera_mh transcripts", description=__doc__, allow_abbrev=False)
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Parser)
    reads = verbs.add_parser("read", help="make rows of conversations, to be judged", allow_abbrev=False)
    reads.add_argument("sources", nargs="+", type=Path, metavar="PATH", help="a folder, or .txt, .json and .jsonl files")
    reads.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="where the rows go (.jsonl)")
    reads.add_argument("--overwrite", action="store_true", help="replace what is there")
    reads.add_argument("--pack", metavar="PACK", help=f"whose personas the file names may name (default: {VERA_MH.name})")
    reads.add_argument(
        "--label-lines",
        choices=("refuse", "text", "turn"),
        default="refuse",
        help="what a line is that looks like the start of a turn but stands where none starts: refuse to guess (default), "
        "text of the reply above, or a turn",
    )
    reads.set_defaults(verb=read)
    writes = verbs.add_parser("write", help="write a finished run in upstream's layout", allow_abbrev=False)
    writes.add_argument("--rollouts", type=Path, required=True, metavar="FILE", help="the rollouts of the run")
    writes.add_argument("--output", "-o", type=Path, required=True, metavar="FOLDER", help="a new folder")
    writes.set_defaults(verb=write)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool.

    Returns:
        0 if it did all, 1 if a run was written that is not complete.

    Raises:
        UserError: There is something for the user to mend.
    """
    args = build_parser().parse_args(arguments)
    code: int = args.verb(args)
    return code


def read(args: argparse.Namespace) -> int:
    """Reads conversations and writes their rows.

    Raises:
        UserError: A file is no conversation, or there is one where the rows go.
    """
    files = files_to_write(args.output)
    files.refuse_sources(_files(args.sources))
    _refuse_existing(files, overwrite=args.overwrite)
    personas, pack = _personas(args.pack)
    found, unseen = _read_all(args.sources, personas, args.label_lines)
    rows = [recorded_row(conversation, index) for index, conversation in enumerate(found)]
    with files.locked():
        _refuse_existing(files, overwrite=args.overwrite)
        files.remove()
        write_json(files.run, {_READ: list(map(str, args.sources)), "ended_at": now(), "versions": versions()})
        write_whole(files.inputs, map(_line, rows))
        write_whole(files.rollouts, (_line(recorded_rollout(row, one.turns)) for row, one in zip(rows, found, strict=True)))
    _report(files, found, unseen, pack, _benchmark(args.pack))
    return 0


def _refuse_existing(files: RunFiles, *, overwrite: bool) -> None:
    """Refuses to replace anything unasked, and what this tool has not written in any case: it may be a run that was paid for."""
    existing = files.existing()
    refuse_existing(existing, overwrite=overwrite)
    if existing and _READ not in read_record_if_any(files.rollouts):
        what = f"{existing[0]} is not known to be of conversations that were only read"
        raise OutputError(what, where="--output", mend="name another file, or remove the old ones yourself")


def _personas(named: str | None) -> tuple[tuple[Persona, ...], str | None]:
    """The personas that names may name, and the pack that they are of; none if there is no pack and none was asked for."""
    if named is None and not vera_mh_folder(os.environ).is_dir():
        return (), None
    try:
        pack = open_pack(named or VERA_MH.name, environ=os.environ, bases=(Path.cwd(), ROOT))
        return read_personas(pack.text(PERSONAS), pack.text(PERSONA_TEMPLATE)), pack.manifest.name
    except (PackError, RubricError) as error:
        raise UserError(str(error), where="--pack") from None


def _read_all(sources: Iterable[Path], personas: Sequence[Persona], label_lines: LabelLines) -> tuple[list[Recorded], int]:
    """All conversations, and how many messages in them the user did not see."""
    found: dict[str, Recorded] = {}
    unseen = 0
    for path in _files(sources):
        for source, log in _logs(path, label_lines):
            name = log.id or source
            if name in found:
                raise UserError(
                    f"two conversations have the id `{name}`",
                    where=f"{found[name].source} and {path}",
                    mend="rename one of the files, or give each conversation an `id`",
                )
            found[name] = Recorded(name, str(path), log.turns, log.system_prompt, read_name(name.rpartition("/")[2], personas))
            unseen += log.unseen
    return list(found.values()), unseen


def _files(sources: Iterable[Path]) -> Iterator[Path]:
    """The files of conversations: those given, and those of folders, in the order of their names."""
    for source in sources:
        if not source.is_dir():
            if source.suffix not in ENDINGS:
                raise UserError(f"{source} is no file of conversations", mend=f"give a folder, or files in {', '.join(ENDINGS)}")
            yield source
            continue
        below = sorted(source.glob(f"{CONVERSATIONS}/*.txt"))
        files = below or sorted(path for path in source.iterdir() if path.suffix in ENDINGS and path.is_file())
        if not files:
            raise UserError(f"{source} holds no conversations: no file that ends in {', '.join(ENDINGS)}")
        yield from files


def _logs(path: Path, label_lines: LabelLines) -> Iterator[tuple[str, ChatLog]]:
    """The conversations of a file, each with the name that its place gives it."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    if not content.strip():
        raise UserError("the file is empty", where=str(path), mend=f"remove it, or {_AS_JSON}")
    if path.suffix == ".txt":
        yield path.stem, ChatLog(tuple(_turns(path, content, label_lines)))
        return
    lines = content.split(b"\n") if path.suffix == ".jsonl" else [content]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        logs = _json_logs(path, number, line)
        for place, log in enumerate(logs, start=1):
            parts = [path.stem, *([str(number)] if path.suffix == ".jsonl" else []), *([str(place)] if len(logs) > 1 else [])]
            yield "/".join(parts), log


def _turns(path: Path, content: bytes, label_lines: LabelLines) -> list[Turn]:
    try:
        return parse_transcript(content.decode("utf-8-sig"), label_lines=label_lines)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError("the text is not UTF-8", where=f"{path}, line {line}", mend="save it as UTF-8") from None
    except TranscriptError as error:
        labels = "write the labels as `user: ` and `chatbot: `; or " if error.mislabelled else ""
        ways = "--label-lines text (of the reply above) or --label-lines turn says what such lines are; or "
        mend = f"{labels}{ways if error.ambiguous else ''}{_AS_JSON}"
        raise UserError(error.message, where=f"{path}, line {error.line}", mend=mend) from None


def _json_logs(path: Path, number: int, content: bytes) -> list[ChatLog]:
    try:
        return parse_chat_logs(orjson.loads(content.removeprefix(codecs.BOM_UTF8)))
    except orjson.JSONDecodeError as error:
        line = number + error.lineno - 1
        raise UserError(f"this is no JSON: {error.msg}", where=f"{path}, line {line}", mend="repair or remove it") from None
    except ChatLogError as error:
        raise UserError(str(error), where=f"{path}, line {number}", mend=_AS_JSON) from None


def _line(row: Json) -> bytes:
    return orjson.dumps(row) + b"\n"


def _benchmark(pack: str | None) -> str:
    """The benchmark that a pack belongs to: the one in whose folder it lies, else this one."""
    folder = Path(pack or "").resolve().parent
    return folder.name if pack and (folder / "config.yaml").is_file() else Path(__file__).parent.name


def _report(files: RunFiles, found: Sequence[Recorded], unseen: int, pack: str | None, benchmark: str) -> None:
    named = sum(one.named is not None for one in found)
    print(f"{counted(len(found), 'conversation')}, {counted(sum(len(one.turns) for one in found), 'turn')}.")
    if pack is None:
        print("  persona known  0: the pack is not here, so file names were not looked up in it")
    else:
        print(f"  persona known  {named}, by file names and the pack {pack}")
    if unseen:
        print(f"  left out       {unseen} messages that the user did not see (calls of tools and their answers)")
    print(f"  conversations  {files.rollouts}\n  rows           {files.inputs}")
    judged = files.rollouts.with_name(f"{files.rollouts.stem}_judged.jsonl")
    source = f"--inputs {_word(files.inputs)} --rollouts {_word(files.rollouts)}"
    print(f"next: gym eval reverify --benchmark {benchmark} {source} --output {_word(judged)}")


def write(args: argparse.Namespace) -> int:
    """Writes a run in upstream's layout.

    Raises:
        UserError: The run cannot be read or holds no scores, or there is something where it goes.
    """
    folder: Path = args.output
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(f"{folder} is already there", where="--output", mend="choose another folder, or remove it")
    source = RunFiles.of(args.rollouts)
    rows = (line.value for line in read_lines(source.rollouts, torn=say_torn))
    try:
        written = list(upstream_files(rows, run=model_token(source.rollouts.stem) or "run"))
    except RowError as error:
        raise UserError(str(error), where=str(source.rollouts), mend="give the rollouts of a run that is judged") from None
    conversations = [name for name, _ in written if name.startswith(f"{CONVERSATIONS}/")]
    if not conversations:
        raise UserError(f"{source.rollouts} holds no scored rollout, so there is nothing to write", where="--rollouts")
    for name, content in written:
        write_whole(folder / name, [content])
    missing = _missing(source)
    if missing:
        print(f"INCOMPLETE: {missing} rollouts of the run have no score and are left out.")
    results = next(name for name, _ in written if name.endswith("/results.csv"))
    print(f"{counted(len(conversations), 'conversation')} written to {folder}")
    print(f"  conversations  {folder / CONVERSATIONS}\n  ratings        {folder / results}")
    print(f"next: python -m judge.score -r {_word((folder / results).resolve())}   (in a checkout of upstream)")
    return 1 if missing else 0


def _missing(files: RunFiles) -> int:
    """Rollouts of the run that have no score, if its rows as dispatched say how many there are."""
    if not files.inputs.exists():
        return 0
    scored = sum(FAILURE_CLASS not in line.value for line in read_lines(files.rollouts, torn=pass_over_torn))
    return sum(1 for _ in read_lines(files.inputs)) - scored


def _word(path: Path) -> str:
    return shlex.quote(str(path))


if __name__ == "__main__":
    sys.exit(gym(["tool", "vera_mh", "transcripts", *sys.argv[1:]]))
