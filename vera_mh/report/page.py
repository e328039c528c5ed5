# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The page around the content: templates, style and script in one file, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from vera_mh.report.characters import by_code

if TYPE_CHECKING:
    from jinja2 import Environment

STYLES = ("base.css", "overview.css", "list.css", "reader.css", "print.css")

_POLICY = "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"


def page(template: str, scripts: Sequence[str], content: Mapping[str, Any]) -> Iterator[str]:
    """A page, part by part.

    Args:
        template: Name of the template.
        scripts: Names of the scripts that it needs, in order.
        content: What the template shows. Text in it is escaped; an iterator is read while the page is written.
    """
    style = _assets(*STYLES)
    script = "'use strict';\n" + _assets(*scripts)
    policy = _POLICY.format(script=_digest(script), style=_digest(style))
    parts = (
        _environment()
        .get_template(template)
        .generate(
            {**content, "policy": policy, "style": Markup(style), "script": Markup(script)}  # noqa: S704
        )
    )
    yield from parts


@cache
def _environment() -> Environment:
    # Every run loads what shows it, and few write a page: only they pay for the templates.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("vera_mh.report"),
        autoescape=True,
        finalize=shown,  # Every expression of a template goes through it, so that none can be forgotten.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "points": points, "signed": signed}
    return environment


def _assets(*names: str) -> str:
    folder = resources.files("vera_mh.report") / "assets"
    return "\n".join((folder / name).read_text("utf-8") for name in names)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def shown(value: Any) -> Any:
    """A value as a template shows it: of a text, what would act is shown by its code point, as `byCode` in `dom.js` does it."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return by_code(value)


def percent(value: float | None) -> str:
    """A share of 0 to 100, as the command prints it."""
    return "–" if value is None else f"{value:.2f}%"


def points(value: float | None) -> str:
    """A score."""
    return "–" if value is None else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A difference of scores, with a true minus."""
    return "–" if value is None else "0.00" if value == 0 else f"{value:+.2f}".replace("-", "−")
