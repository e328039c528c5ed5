# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Checks a pack, writes its manifest, and makes its rows."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from gym_host.atomic import write_whole
from gym_host.cli.main import main as gym
from gym_host.cli.output import say_next
from gym_host.cli.parser import Parser, positive
from gym_host.errors import ConfigError
from gym_host.runs.outputs import refuse_output
from gym_host.wording import counted
from vera_mh.checks.findings import Finding
from vera_mh.checks.pack_check import check_folder
from vera_mh.errors import ManifestIncomplete, VeraMHError
from vera_mh.pack import MANIFEST, PREPARE_COMMAND, VERA_MH, load_manifest, open_pack, pack_folder
from vera_mh.pack_manifest import fresh_manifest, manifest_text
from vera_mh.tasks import MAX_TURNS, RECOMMENDED_SIMULATORS, UserSimulator, benchmark_rows, row_line

PROGRAM = "gym tool vera_mh pack"
TO_MEND = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool.

    Args:
        arguments: What it is given, without its own name.

    Returns:
        0 if all is well, 2 if there is something to mend in the pack that was checked.

    Raises:
        UserError: There is something for the user to mend before the tool can do its work.
    """
    args = build_parser().parse_args(arguments)
    try:
        code: int = args.command(args)
    except VeraMHError as error:
        raise ConfigError(str(error)) from error
    return code


def build_parser() -> Parser:
    """The tool's words and flags."""
    parser = Parser(prog=PROGRAM, description=__doc__, allow_abbrev=False)
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    check = verbs.add_parser("check", help="say what is wrong with a pack", allow_abbrev=False)
    check.add_argument("pack", metavar="FOLDER", help=f"where it lies; or {VERA_MH.name}, the pinned one")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(command=_check)

    hash_ = verbs.add_parser("hash", help="print the manifest of a folder with the hashes of its files", allow_abbrev=False)
    hash_.add_argument("folder", metavar="FOLDER", type=Path, help="where the files lie")
    hash_.add_argument("--write", action="store_true", help=f"write it into {MANIFEST} there")
    for flag, what in (
        ("--name", "name of the pack"),
        ("--rubric-version", "version of its rubric"),
        ("--repository", "where its files come from"),
        ("--revision", "commit or version there"),
    ):
        hash_.add_argument(flag, metavar="TEXT", help=f"{what} (default: what {MANIFEST} has)")
    hash_.set_defaults(command=_hash)

    rows = verbs.add_parser("rows", help="write the rows of a pack: each persona with each user simulator", allow_abbrev=False)
    rows.add_argument("pack", metavar="FOLDER", help=f"where it lies; or {VERA_MH.name}, the pinned one")
    rows.add_argument("--output", "-o", type=Path, required=True, metavar="FILE", help="where they go (.jsonl)")
    rows.add_argument("--overwrite", action="store_true", help="replace the file if it is there")
    rows.add_argument("--prefix", metavar="TEXT", help="first part of the row ids (default: the name of the pack)")
    rows.add_argument(
        "--max-turns", type=positive, default=MAX_TURNS, metavar="N", help=f"turns at the most (default: {MAX_TURNS})"
    )
    recommended = ", ".join(simulator.name for simulator in RECOMMENDED_SIMULATORS)
    rows.add_argument(
        "--simulator", action="append", metavar="NAME", help=f"a user simulator; give it for each (default: {recommended})"
    )
    rows.set_defaults(command=_rows)
    return parser


def _check(args: argparse.Namespace) -> int:
    folder = pack_folder(args.pack, environ=os.environ, bases=(Path.cwd(),))
    if not folder.is_dir():
        mend = f"run `{PREPARE_COMMAND}`" if args.pack == VERA_MH.name else "name the folder of a pack"
        raise ConfigError(f"there is no folder {folder}", where=args.pack, mend=mend)
    found = check_folder(folder, VERA_MH if args.pack == VERA_MH.name else None)
    print(
        json.dumps([asdict(finding) for finding in found], indent=2, ensure_ascii=False) if args.json else _text(found, args.pack)
    )
    wrong = any(finding.is_error for finding in found)
    if not args.json:
        say_next("mend the errors, and check again" if wrong else f"{PROGRAM} rows {args.pack} --output FILE makes its rows")
    return TO_MEND if wrong else 0


def _text(found: Sequence[Finding], pack: str) -> str:
    lines = [f"{finding.severity}: {finding.what}\n  where: {finding.place}\n  to mend it: {finding.mend}" for finding in found]
    errors = sum(finding.is_error for finding in found)
    counts = f"{counted(errors, 'error')}, {counted(len(found) - errors, 'warning')}"
    return "\n".join([*lines, f"{pack}: {counts}"])


def _hash(args: argparse.Namespace) -> int:
    path = args.folder / MANIFEST
    given = {name: getattr(args, name) for name in ("name", "rubric_version", "repository", "revision")}
    known = load_manifest(args.folder, renamed=bool(args.name)) if path.exists() and not all(given.values()) else None
    try:
        manifest = fresh_manifest(args.folder, known, **given)
    except ManifestIncomplete as error:
        flags = ", ".join(f"--{key.replace('_', '-')}" for key in error.unknown)
        raise ConfigError(str(error), where=str(args.folder), mend=f"give {flags}") from None
    text = manifest_text(manifest)
    if args.write:
        write_whole(path, [text.encode()])
        print(f"wrote {path}: {manifest.name}, {len(manifest.sha256)} files, SHA-256 of the pack {manifest.digest}")
        say_next(f"{PROGRAM} check {args.folder}")
    else:
        print(text, end="")
    return 0


def _rows(args: argparse.Namespace) -> int:
    pack = open_pack(args.pack, environ=os.environ, bases=(Path.cwd(),))
    read = [pack.folder / name for name in (MANIFEST, *pack.contents)]
    refuse_output(args.output, endings=(".jsonl",), what="a file of rows", overwrite=args.overwrite, reads=read)
    names = args.simulator or []
    if "" in names or len(set(names)) < len(names):
        raise ConfigError("a user simulator has no name, or is given twice", where="--simulator", mend="name each of them once")
    simulators = [UserSimulator(name, name) for name in names] or RECOMMENDED_SIMULATORS
    prefix = args.prefix or pack.manifest.name
    rows = list(benchmark_rows(pack, prefix=prefix, simulators=simulators, max_turns=args.max_turns))
    write_whole(args.output, (row_line(row).encode() for row in rows))
    print(f"{len(rows)} rows of {pack.manifest.name} in {args.output}")
    say_next(f"gym eval run --input {args.output} --output FILE, with the configuration of the pack")
    return 0


if __name__ == "__main__":
    sys.exit(gym(["tool", "vera_mh", "pack", *sys.argv[1:]]))
