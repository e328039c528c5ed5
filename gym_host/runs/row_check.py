# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a row can be run, found out before anything is started: a row that does not fit would fail at every attempt."""

from __future__ import annotations

from pydantic import BaseModel, ValidationError

from gym_host.config.request_params import PARAMS, param_faults
from gym_host.errors import UserError
from gym_host.jsonl import Json
from gym_host.wording import counted, printable

_SHOWN = 60
_SET_FOR_ALL = f"repair the row, or `{PARAMS}` of the configuration or the command, which is added to every row"


def row_fault(row: Json, row_type: type[BaseModel] | None) -> UserError | None:
    """The first thing that is wrong with a row; None if nothing is.

    Args:
        row: The row.
        row_type: What the agent takes as the body of `/run`; None if it does not say.
    """
    for fault in param_faults(row[PARAMS]):
        return UserError(fault.what, where=fault.where, mend=fault.mend)
    if row_type is None:
        return None
    try:
        row_type.model_validate(row)
    except ValidationError as error:
        one = error.errors(include_url=False)[0]
    else:
        return None
    key = ".".join(map(str, one["loc"]))
    if one["type"] == "missing":
        return UserError(f"the row has no `{key}`", where=key)
    if one["type"] == "value_error":  # In the agent's own words, which say where in the value.
        return UserError(f"the row cannot be run: {one['msg'].removeprefix('Value error, ')}", where=key)
    value = printable(repr(one["input"]), longest=_SHOWN)
    return UserError(f"`{key}` of the row is wrong: {one['msg']}", where=f"{key} = {value}")


def together(faults: dict[str, UserError]) -> UserError:
    """One error for rows that cannot be run.

    Args:
        faults: Place of a row -> what is wrong with it; at least one.
    """
    place, first = next(iter(faults.items()))
    others = len(faults) - 1
    more = f"; {counted(others, 'more row')} cannot be run either" if others else ""
    return UserError(
        f"{first.what}{more}",
        where=f"{place}: {first.where}",
        mend=first.mend or (_SET_FOR_ALL if PARAMS in str(first.where) else "repair the row"),
    )
