# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the record of a run may say for a command that looks at the run.

A run may come from somebody else, and to show it must not run what that person chose. So a record gives names of components,
which are looked for among the reader's own, and overrides that set a plain value. Folders, files and programs it gives not: the
reader has to repeat those words on the command line.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gym_host.cli.setup import chooses_configuration
from gym_host.config.config_files import INCLUDES
from gym_host.config.masking import MASK
from gym_host.errors import UserError
from gym_host.wording import printable

_NAMES = ("benchmark", "environment", "resources_server")
_LONGEST = 2000

_REMOVAL = re.compile(r"~[\w.-]+")
_PLAIN = re.compile(r"\+{0,2}(?P<key>[\w.-]+)=(?:\w[\w.:+-]*|-?[\d.]+)?")
"""Numbers and words: without a slash nothing leads out of a folder, without a dollar or a bracket nothing has parts."""
_ADDRESS = re.compile(r"\+{0,2}(?P<key>[\w.-]*(?:base_url|model|model_name))=\w[\w.:/+@-]*")
"""Where models answer and what they are called; both are often written with slashes, and neither is opened."""
_CHOOSES_CODE = re.compile(rf"(?:^|\.)(?:entrypoint|{INCLUDES})(?:\.|$)")


def use_recorded_words(args: argparse.Namespace, words: Any) -> None:
    """Gives a command that chose no configuration the words of an earlier one, and leaves it its own roots and overrides.

    Args:
        args: The command's words.
        words: The words that a record holds, whatever they are.

    Raises:
        UserError: They choose folders, files or programs that the command itself does not name.
    """
    if chooses_configuration(args) or not isinstance(words, dict):
        return
    names = {name: _texts(words.get(name)) for name in _NAMES}
    configs, folders = _texts(words.get("config")), _texts(words.get("search_dir"))
    overrides = [text for text in _texts(words.get("overrides")) if not text.endswith(MASK) and text not in args.overrides]
    untold = [folder for folder in folders if _place(folder) not in map(_place, args.search_dir)]
    doubtful = [text for text in overrides if not is_plain(text)]
    if configs:
        # Whoever names a configuration names all of it, so that all of its words are told.
        chosen = {**names, "config": configs, "search_dir": untold}
        raise _untrusted(_flags({"config": configs, "search_dir": untold}) + doubtful, _flags(chosen) + overrides)
    if untold or doubtful:
        missing = _flags({"search_dir": untold}) + doubtful
        raise _untrusted(missing, missing)
    for name, values in names.items():
        setattr(args, name, values)
    args.overrides = [*overrides, *args.overrides]


def is_plain(override: str) -> bool:
    """Whether an override can lead to no program and no file, whatever its key means."""
    if _REMOVAL.fullmatch(override):
        return True
    found = _PLAIN.fullmatch(override) or _ADDRESS.fullmatch(override)
    return found is not None and not _CHOOSES_CODE.search(found["key"]) and ".." not in override


def _untrusted(made_with: Sequence[str], to_add: Sequence[str]) -> UserError:
    return UserError(
        f"this run was made with {_shown(made_with)}, which a record may not choose: it could run a program of whoever made it",
        mend=f"if you trust it, add to the command: {_shown(to_add)}",
    )


def _shown(words: Sequence[str]) -> str:
    return printable(shlex.join(words), longest=_LONGEST)


def _flags(words: dict[str, list[str]]) -> list[str]:
    return [part for word, values in words.items() for value in values for part in (f"--{word.replace('_', '-')}", value)]


def _place(folder: str | Path) -> Path:
    return Path(folder).expanduser().resolve()


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
