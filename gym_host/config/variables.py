# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Environment variables that look as if the configuration read them, and that it does not: a misspelled one sets nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from gym_host.config.containers import leaves
from gym_host.errors import ConfigError
from gym_host.wording import nearest

_LEAST_LIKENESS = 0.8
"""A name that is less like one that is read may mean something else, for which this one would be a bad advice."""

_READ = re.compile(r"\$\{oc\.env:([A-Za-z_]\w*)")


def variable_warnings(values: Mapping[str, Any], environ: Iterable[str]) -> list[ConfigError]:
    """The variables that are set and nearly named like one that the configuration reads.

    Looked at are those that begin as several of the names do which the configuration reads, since only these are its own; what
    is left of a name behind that beginning is compared.

    Args:
        values: The whole configuration, unresolved.
        environ: Names of the variables that are set.
    """
    read = {name for _, leaf in leaves(dict(values)) if isinstance(leaf, str) for name in _READ.findall(leaf)}
    unread = set(environ) - read
    found = []
    for beginning in _beginnings(read):
        endings = [name.removeprefix(beginning) for name in read if name.startswith(beginning)]
        for name in sorted(other for other in unread if other.startswith(beginning)):
            close = nearest(name.removeprefix(beginning), endings, least=_LEAST_LIKENESS)
            if close is not None:
                what = f"no setting reads the environment variable `{name}`"
                found.append(ConfigError(what, mend=f"did you mean `{beginning}{close}`?"))
    return found


def _beginnings(names: Iterable[str]) -> list[str]:
    """The first words that several names share."""
    counts = Counter(name.partition("_")[0] for name in names)
    return [f"{word}_" for word, count in counts.items() if count > 1]
