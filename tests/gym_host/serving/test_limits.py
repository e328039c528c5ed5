# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The limit on open files."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from gym_host.errors import UserError
from gym_host.serving.limits import raise_file_limit


@pytest.fixture
def hard_limit() -> Iterator[int]:
    """The hard limit, while the soft one is set to 256 and restored afterwards."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    yield hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def soft_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def allowed(hard_limit: int) -> int:
    """As many files as a process is given that may need many."""
    return 65_536 if hard_limit == resource.RLIM_INFINITY else min(65_536, hard_limit)


def test_the_limit_is_raised_as_far_as_the_system_allows_and_never_lowered(hard_limit: int):
    raise_file_limit(100)
    assert soft_limit() == allowed(hard_limit)
    more = 70_000 if hard_limit == resource.RLIM_INFINITY else hard_limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard_limit))
    raise_file_limit(100)
    assert soft_limit() == more


def test_more_than_the_system_allows_is_refused_with_both_numbers(hard_limit: int):
    if hard_limit == resource.RLIM_INFINITY:
        pytest.skip("needs a system with a limit")
    with pytest.raises(UserError, match=f"need {hard_limit + 64} open files, and this system allows {hard_limit}"):
        raise_file_limit(hard_limit)
    assert soft_limit() == allowed(hard_limit)
