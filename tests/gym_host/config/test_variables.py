# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Environment variables that are nearly named like those that a configuration reads."""

from __future__ import annotations

import pytest

from gym_host.config.variables import variable_warnings

VALUES = {
    "judge": {
        "base_url": "${oc.env:MY_APP_JUDGE_BASE_URL,https://host/v1}",
        "api_key": "${oc.env:MY_APP_JUDGE_API_KEY,${oc.env:SOME_API_KEY,???}}",
        "models": ["${oc.env:MY_APP_JUDGE_MODEL,m}"],
    }
}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MY_APP_JUDGE_URL", "MY_APP_JUDGE_BASE_URL"),
        ("MY_APP_JUDGE_MODLE", "MY_APP_JUDGE_MODEL"),
        ("MY_APP_JUDGE_KEY", "MY_APP_JUDGE_API_KEY"),
    ],
)
def test_a_variable_that_is_nearly_named_like_one_that_is_read_is_warned_of(name: str, meant: str):
    (warning,) = variable_warnings(VALUES, {name: "x", "MY_APP_JUDGE_MODEL": "x"})
    assert warning.what == f"no setting reads the environment variable `{name}`"
    assert warning.mend == f"did you mean `{meant}`?"


def test_a_variable_that_is_read_that_is_like_none_or_that_belongs_to_others_is_not_spoken_of():
    environ = [
        "MY_APP_JUDGE_BASE_URL",
        "SOME_API_KEY",
        "SOME_API_KEYS",
        "MY_APP_FOLDER",
        "MY_APP_MODEL",
        "MY_APP_POLICY_MODEL",
        "OTHER_JUDGE_URL",
        "HOME",
    ]
    assert variable_warnings(VALUES, environ) == []
    assert variable_warnings({"a": 1}, environ) == []


def test_a_jumble_of_the_role_is_found_too():
    values = VALUES | {"user": "${oc.env:MY_APP_USER_MODEL,m}"}
    (warning,) = variable_warnings(values, ["MY_APP_JUGDE_MODEL"])
    assert warning.mend == "did you mean `MY_APP_JUDGE_MODEL`?"
