# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""JSON as it should not be: any value, and a good value of which a few places hold something else, or nothing."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

TEXTS = st.text(max_size=20) | st.sampled_from(["", " ", "No", "user: x", "{", "\0", "../../etc/passwd", "/", "${oc.env:HOME}"])
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
ANY_JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


@st.composite
def mangled(draw: st.DrawFn, good: Any, changes: int = 3) -> Any:
    """A good value in which up to so many places were changed, taken away or doubled."""
    value = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, changes))):
        value = _changed(draw, value)
    return value


def _changed(draw: st.DrawFn, root: Any) -> Any:
    node: Any = root
    parent: Any = None
    key: Any = None
    while isinstance(node, dict | list) and node and (parent is None or draw(st.booleans())):
        parent, keys = node, sorted(node, key=str) if isinstance(node, dict) else range(len(node))
        key = draw(st.sampled_from(keys))
        node = node[key]
    if parent is None:
        return draw(ANY_JSON)
    how = draw(st.sampled_from(["other", "other", "other", "gone", "more"]))
    if how == "gone":
        del parent[key]
    elif how == "more" and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(node))
    elif how == "more":
        parent[draw(TEXTS)] = draw(ANY_JSON)
    else:
        parent[key] = draw(ANY_JSON)
    return root
