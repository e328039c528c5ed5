# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Holds a finished run against upstream's own code.

Upstream is run from a checkout and with a Python that the user names. Three controls are exact: upstream's simulator plays the
stored conversations again, its judge is answered from the stored receipts, its scorer scores our ratings. The fourth, `live`,
lets upstream's judge ask an endpoint. See fern/pages/fidelity.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import orjson
from rich.progress import Progress

from gym_host.atomic import write_json
from gym_host.cli.main import main as gym
from gym_host.cli.output import say_next, show_tables, stderr_console, stdout_console
from gym_host.cli.parser import Parser, positive
from gym_host.config.masking import mask_text
from gym_host.errors import UserError
from gym_host.jsonl import Json
from gym_host.runs.finished import read_run
from gym_host.runs.keys import TASK_INDEX
from gym_host.runs.metrics_file import METRICS_ANEW
from gym_host.runs.outputs import refuse_output
from gym_host.runs.run_files import RunFiles
from gym_host.wording import printable, suggestion
from vera_mh.calibration import live, materialization, replay, report, scores
from vera_mh.calibration.control import Control, Mismatch, conversation_label
from vera_mh.calibration.upstream import CHECKOUT, ENDPOINT, INTERPRETER, JudgeEndpoint, Upstream
from vera_mh.errors import UpstreamError, VeraMHError
from vera_mh.judge import JudgeSheet
from vera_mh.models import Row
from vera_mh.pack import PERSONA_REMINDER, VERA_MH, Pack, open_pack

EXACT = (materialization.NAME, replay.NAME, scores.NAME)
CONTROLS = (*EXACT, live.NAME)
FIELDS = {
    materialization.NAME: materialization.FIELDS,
    replay.NAME: replay.FIELDS,
    scores.NAME: scores.FIELDS,
    live.NAME: live.FIELDS,
}
COMMAND = "gym tool vera_mh calibrate"
_FLAGS = {CHECKOUT: "--upstream", INTERPRETER: "--python", ENDPOINT: "--judge-url, --judge-model and --judge-extra-params"}
"""What the library finds at fault -> the flags that say it."""

Advance = Callable[[int], None]
Ask = Callable[[Json], Json]


def build_parser() -> Parser:
    """The tool's flags."""
    parser = Parser(prog=COMMAND, description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--upstream", type=Path, required=True, metavar="DIR", help="a checkout of upstream")
    parser.add_argument("--python", required=True, metavar="EXE", help="a Python that has the packages of upstream")
    parser.add_argument("--rollouts", type=Path, required=True, metavar="FILE", help="the rollouts of a finished run (.jsonl)")
    parser.add_argument(
        "--controls", default=",".join(EXACT), metavar="NAMES", help=f"of {', '.join(CONTROLS)}; default: the first three"
    )
    parser.add_argument("--pack", default=VERA_MH.name, help=f"the pack of the run (default: {VERA_MH.name}, else a folder)")
    parser.add_argument("--output", "-o", type=Path, metavar="FILE", help="default: x_calibration.json beside x.jsonl")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")
    of_live = parser.add_argument_group("the control `live`")
    of_live.add_argument("--judge-url", metavar="URL", help="base URL of an OpenAI-compatible endpoint")
    of_live.add_argument("--judge-model", metavar="MODEL", help="by whose name upstream chooses its client, such as gpt-5.4")
    of_live.add_argument("--judge-api-key", metavar="KEY", help="default: OPENAI_API_KEY of the environment")
    of_live.add_argument("--judge-extra-params", default="", metavar="NAME=VALUE,...", help="as upstream's judge.py takes them")
    of_live.add_argument("--live-sample", type=positive, default=20, metavar="N", help="conversations to judge (default: 20)")
    of_live.add_argument("--live-concurrency", type=positive, default=4, metavar="N", help="of them at once (default: 4)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the controls.

    Returns:
        0 if all exact controls agree, 1 if one does not.

    Raises:
        UserError: There is something for the user to mend.
    """
    args = build_parser().parse_args(arguments)
    try:
        return calibrate(args)
    except UpstreamError as error:
        # Upstream may repeat the address that it asked, with a password in it: that goes into no traceback either.
        raise UserError(mask_text(error.what), where=_FLAGS.get(error.where or "", error.where), mend=error.mend) from None
    except VeraMHError as error:
        raise UserError(str(error)) from error


def calibrate(args: argparse.Namespace) -> int:
    """Runs the controls that the words name, writes the document and prints the tables.

    Raises:
        UserError: Something is for the user to mend.
        VeraMHError: The same, in the library's words.
    """
    names = _controls(args)
    output: Path = args.output or args.rollouts.with_name(f"{args.rollouts.stem}_calibration.json")
    refuse_output(output, endings=(".json",), what="a calibration", overwrite=args.overwrite, reads=[args.rollouts])
    pack = open_pack(args.pack, environ=os.environ, bases=[Path.cwd()])
    rows = _rows(args.rollouts, names, pack)
    upstream = Upstream.at(args.upstream, args.python)
    for warning in warnings(upstream, pack):
        stderr_console().print(f"warning: {warning}")
    document: Json = {
        "upstream": {
            "folder": str(upstream.folder),
            "commit": upstream.commit,
            "pinned_commit": VERA_MH.revision,
            "changed_files": list(upstream.changed),
            "other_pack_files": upstream.other_files(pack.manifest),
        },
        "run": {"rollouts": str(args.rollouts), "conversations": len(rows), **pack.about()},
    }
    with tempfile.TemporaryDirectory(prefix="calibration-") as scratch:
        published = _published(args.rollouts)
        exact = [_exact(name, upstream, rows, pack, published, Path(scratch)) for name in EXACT if name in names]
        agreement = _live(args, upstream, rows, Path(scratch)) if live.NAME in names else None
    document["controls"] = {control.name: control.to_json() for control in exact}
    document["controls"] |= {live.NAME: agreement.to_json()} if agreement else {}
    write_json(output, document)
    console = stdout_console()
    console.print(f"upstream at {upstream.commit} in {upstream.folder}\n")
    show_tables(console, report.tables(exact, agreement), map(printable, report.notes(exact, agreement)))
    console.print(f"all of it in {output}")
    agrees = all(control.agrees for control in exact)
    say_next("report the score of the run" if agrees else f"see in {output} where the two differ, before the score is used")
    return 0 if agrees else 1


def _controls(args: argparse.Namespace) -> list[str]:
    names = [name.strip() for name in args.controls.split(",") if name.strip()]
    unknown = next((name for name in names if name not in CONTROLS), None)
    if unknown is not None or not names:
        raise UserError(f"there is no control `{unknown or ''}`", where="--controls", mend=suggestion(unknown or "", CONTROLS))
    if live.NAME in names:
        args.judge_api_key = args.judge_api_key or os.environ.get("OPENAI_API_KEY")
        needed = {"--judge-url": args.judge_url, "--judge-model": args.judge_model, "--judge-api-key": args.judge_api_key}
        lacking = [flag for flag, value in needed.items() if not value]
        if lacking:
            raise UserError(
                f"the control `live` needs {' and '.join(lacking)}", mend="give it, or leave `live` out of --controls"
            )
    return names


def _rows(rollouts: Path, names: Iterable[str], pack: Pack) -> list[Row]:
    """The rows of the run, with what the controls read.

    Raises:
        UserError: A row lacks something, or was scored with another pack.
    """
    needed = {field for name in names for field in FIELDS[name]}
    rows = read_run(rollouts, [TASK_INDEX, "pack", "pack_sha256", *sorted(needed)]).rows
    if not rows:
        raise UserError(f"{rollouts} has no scored rows", where="--rollouts", mend="name the rollouts of a finished run")
    required = needed & {"conversation", "transcript", "ratings", "question_path", "judge_receipts"}
    for row in rows:
        lacking = sorted(field for field in required if row.get(field) is None)
        if lacking:
            raise UserError(
                f"{conversation_label(row)} in {rollouts} has no {', '.join(lacking)}", mend="calibrate the rollouts of a run"
            )
        if row.get("pack_sha256") not in (None, pack.manifest.digest):
            raise UserError(
                f"the run was scored with the pack {row.get('pack')}, and not with {pack.manifest.name}",
                where="--pack",
                mend="name the pack of the run",
            )
    return list(rows)


def warnings(upstream: Upstream, pack: Pack) -> Iterator[str]:
    """What makes the checkout another than the pinned one."""
    if upstream.commit != VERA_MH.revision:
        yield f"upstream's commit is {upstream.commit}, and the pinned one is {VERA_MH.revision}"
    if upstream.changed:
        yield f"the checkout has changed files: {', '.join(upstream.changed)}"
    others = upstream.other_files(pack.manifest)
    if others:
        yield f"not the files of the pack {pack.manifest.name}: {', '.join(others)}; expect differences"


def _published(rollouts: Path) -> Json | None:
    """The metrics that the run wrote; None if there are none, or those of several agents."""
    path = RunFiles(rollouts).metrics
    try:
        entries = orjson.loads(path.read_bytes())
        return dict(entries[0]["agent_metrics"]) if len(entries) == 1 else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path} is no metrics file of a run", mend=METRICS_ANEW) from None


def _exact(name: str, upstream: Upstream, rows: Sequence[Row], pack: Pack, published: Json | None, scratch: Path) -> Control:
    control = Control(name)
    with upstream.driven(name, scratch / name) as ask:
        if name == scores.NAME:
            with _progress(name, 1) as advance:
                answer = _answer(control, "", ask({"results_csv": scores.results_of(rows)}))
                if answer is not None:
                    scores.compare(control, rows, answer, published=published)
                advance(1)
            return control
        one = _materialized(control, ask, pack) if name == materialization.NAME else _replayed(control, ask, pack)
        with _progress(name, len(rows)) as advance:
            for row in rows:
                one(row)
                advance(1)
    return control


def _materialized(control: Control, ask: Ask, pack: Pack) -> Callable[[Row], None]:
    reminder = pack.text(PERSONA_REMINDER)

    def one(row: Row) -> None:
        answer = _answer(control, conversation_label(row), ask(materialization.request(row)))
        if answer is not None:
            materialization.compare(control, row, answer, reminder=reminder)

    return one


def _replayed(control: Control, ask: Ask, pack: Pack) -> Callable[[Row], None]:
    sheet = JudgeSheet.from_pack(pack)

    def one(row: Row) -> None:
        answer = _answer(control, conversation_label(row), ask(replay.request(row, sheet)))
        if answer is not None:
            replay.compare(control, row, answer)

    return one


def _answer(control: Control, conversation: str, said: Json) -> Json | None:
    """Upstream's answer; None if its code refused, which is a disagreement."""
    if "error" in said:
        control.counts["refused"] += 1
        control.mismatches.append(Mismatch(conversation, "upstream refuses", "an outcome", said["error"]))
        return None
    answer: Json = said["answer"]
    return answer


def _live(args: argparse.Namespace, upstream: Upstream, rows: Sequence[Row], scratch: Path) -> live.Agreement:
    sample = live.stratified(rows, args.live_sample)
    transcripts, output = scratch / "transcripts", scratch / "evaluations"
    transcripts.mkdir()
    output.mkdir()
    stems = [live.stem_of(number, row) for number, row in enumerate(sample)]
    for stem, row in zip(stems, sample, strict=True):
        (transcripts / f"{stem}.txt").write_bytes(str(row["transcript"]).encode())
    with _progress(live.NAME, len(sample)) as advance:
        endpoint = JudgeEndpoint(
            args.judge_url, args.judge_api_key, args.judge_model, args.judge_extra_params, args.live_concurrency
        )
        upstream.judge(transcripts, output, endpoint, progress=_difference(advance))
    agreement = live.Agreement()
    for stem, row in zip(stems, sample, strict=True):
        sheet = live.sheet_of(output, stem)
        agreement.add(row, live.ratings_of(sheet.read_text("utf-8")) if sheet else None)
    return agreement


def _difference(advance: Advance) -> Advance:
    """Advances by what has come since the last time."""
    told = 0

    def tell(total: int) -> None:
        nonlocal told
        advance(total - told)
        told = total

    return tell


@contextmanager
def _progress(name: str, total: int) -> Iterator[Advance]:
    """A bar where a person watches; elsewhere one line."""
    console = stderr_console()
    if not console.is_terminal:
        console.print(f"{name} ...")
        yield lambda steps: None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda steps: bar.advance(task, steps)


if __name__ == "__main__":
    sys.exit(gym(["tool", "vera_mh", "calibrate", *sys.argv[1:]]))
