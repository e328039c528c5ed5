# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Says how far raters of the same conversations agree: judges, clinicians, or a judge with itself."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_host.atomic import write_json
from gym_host.cli.columns import columns
from gym_host.cli.main import main as gym
from gym_host.cli.parser import Parser
from gym_host.errors import UserError
from gym_host.jsonl import read_lines, say_torn
from gym_host.runs.outputs import refuse_output
from vera_mh.analysis.agreement import agreement
from vera_mh.analysis.raters import Rater, rater_of_rows, raters_of_sheet
from vera_mh.errors import RatingsError
from vera_mh.models import Json

FEW = 20
"""Fewer conversations than this get a word of caution."""

_SHORT = ("Best Practice", "Suboptimal", "High harm", "Not Relevant")


def build_parser() -> Parser:
    """The words of the tool."""
    parser = Parser(prog="gym tool vera_mh agreement", description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "ratings", nargs="+", metavar="[NAME=]FILE", help="rollouts of a run (.jsonl), or a sheet of ratings (.csv, .tsv)"
    )
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="also write all of it there (.json)")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the tool.

    Returns:
        0.

    Raises:
        UserError: A file cannot be read, or the raters have nothing in common.
    """
    args = build_parser().parse_args(arguments)
    files = [_named(word) for word in args.ratings]
    read = [path for _, path in files]
    refuse_output(args.output, endings=(".json",), what="an agreement", overwrite=args.overwrite, reads=read)
    raters = [rater for name, path in files for rater in _raters(name, path)]
    try:
        found = agreement(raters)
    except RatingsError as error:
        raise UserError(error.message, mend=error.mend) from None
    print("\n\n".join(_paragraphs(found)))
    if args.output is None:
        print("next: add --output agreement.json for every rating on which they differ")
    else:
        write_json(args.output, found)
        print(f"next: read the conversations on which they differ; `disagreements` in {args.output} names them")
    return 0


def _named(word: str) -> tuple[str, Path]:
    """The name and the file of a word `NAME=FILE`; a file that is named alone is called as it is."""
    name, sign, rest = word.partition("=")
    return (name, Path(rest)) if sign and not Path(word).exists() else (Path(word).stem, Path(word))


def _raters(name: str, path: Path) -> list[Rater]:
    """The raters of one file; where it has only one, this is its name."""
    try:
        if path.suffix == ".jsonl":
            return [rater_of_rows((line.value for line in read_lines(path, torn=say_torn)), name)]
        if path.suffix in (".csv", ".tsv"):
            return raters_of_sheet(path.read_text("utf-8-sig"), name)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError("the text is not UTF-8", where=str(path), mend="save it as CSV in UTF-8") from None
    except RatingsError as error:
        where = f"{path}, line {error.line}" if error.line else str(path)
        raise UserError(error.message, where=where, mend=error.mend) from None
    raise UserError(f"{path} is no file of ratings", mend="give rollouts (.jsonl) or a sheet (.csv, .tsv)")


def _paragraphs(found: Json) -> Iterator[str]:
    yield _who(found)
    yield _how_far(found)
    if "confusion" in found:
        yield _confusion(found["confusion"])
    notes = list(_notes(found))
    yield "\n".join(notes)


def _who(found: Json) -> str:
    rows = [[rater["name"], str(rater["conversations"]), str(rater["in_common"])] for rater in found["raters"]]
    lines = [columns([["Rater", "Conversations", "In common"], *rows])]
    lines.append(f"{found['conversations']['in_common']} conversations in common.")
    reasons = Counter(entry["reason"] for entry in found["conversations"]["left_out"])
    lines += [f"Left out: {count} ({reason})." for reason, count in reasons.items()]
    if found["dimensions_left_out"]:
        lines.append(f"Dimensions left out, since no two raters have rated them: {', '.join(found['dimensions_left_out'])}.")
    lines += [
        f"Columns of {rater['name']} that hold no ratings, so were not read: {', '.join(rater['columns_not_read'])}."
        for rater in found["raters"]
        if rater["columns_not_read"]
    ]
    return "\n".join(lines)


def _how_far(found: Json) -> str:
    head = ["Dimension", "n", "Agreement", "95% interval", "Alpha", "95% interval", "Ordinal", "95% interval", "n"]
    rows = [[name, *_measures(of)] for name, of in (*found["dimensions"].items(), ("All", found["overall"]))]
    return columns([head, *rows])


def _measures(of: Mapping[str, Any]) -> list[str]:
    return [
        str(of["n"]),
        *_estimate(of, "raw_agreement", percent=True),
        *_estimate(of, "alpha"),
        *_estimate(of, "alpha_ordinal"),
        str(of["n_ordinal"]),
    ]


def _estimate(of: Mapping[str, Any], name: str, *, percent: bool = False) -> tuple[str, str]:
    value, low, high = (
        "-" if of[key] is None else f"{100 * of[key]:.1f}%" if percent else f"{of[key]:.2f}"
        for key in (name, f"{name}_ci95_low", f"{name}_ci95_high")
    )
    return value, "-" if low == "-" else f"{low} to {high}"


def _confusion(confusion: Json) -> str:
    rows = [[name, *map(str, counts)] for name, counts in zip(_SHORT, confusion["overall"], strict=True)]
    return f"{confusion['rows']} (rows) and {confusion['columns']} (columns), all dimensions\n" + columns([["", *_SHORT], *rows])


def _notes(found: Json) -> Iterator[str]:
    for name, of in (*found["dimensions"].items(), ("All", found["overall"])):
        if "alpha_undefined" in of:
            yield f"{name}: no alpha, {of['alpha_undefined']}."
    yield "n: conversations and dimensions that two raters or more have rated. Alpha: Krippendorff's, 1 is perfect, 0 is chance."
    yield "Ordinal: alpha over the three ratings that are in order of severity, without Not Relevant; a worse miss weighs more."
    yield "Intervals: bootstrap over conversations, each with all its dimensions."
    if found["conversations"]["in_common"] < FEW:
        yield f"With fewer than {FEW} conversations in common, intervals are rough and an alpha says little."


if __name__ == "__main__":
    sys.exit(gym(["tool", "vera_mh", "agreement", *sys.argv[1:]]))
