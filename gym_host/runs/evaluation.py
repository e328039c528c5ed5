# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One evaluation, before it is done. A run and a reverification differ only in the attempt that they make."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from gym_host.config.configuration import Instance
from gym_host.jsonl import Json
from gym_host.runs.attempts import Attempt
from gym_host.runs.cost import MakeMeter
from gym_host.runs.keys import Key
from gym_host.runs.run_files import RunFiles
from gym_host.serving.calls import ServerCalls


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be done.

    Attributes:
        servers: Opens the servers, and closes them.
        instances: Which servers take part.
        attempt: Makes the attempt, once the servers run; may refuse with a UserError.
        agent: Name of the agent instance that the rows belong to.
        scorer: Name of the server that computes the metrics.
        rows: The rows as dispatched.
        files: Where everything goes.
        concurrency: Rollouts at once.
        max_attempts: Failed attempts after which a rollout is given up.
        resume: Go on with what is there.
        overwrite: Remove what is there.
        joins: Add to the files of another run, if its servers are the same; what has no attempts left there is tried once more.
        aggregate: Compute metrics at the end.
        only: Keys that may be attempted; None for all.
        judging: Names of servers that take part in no conversation, but only judge.
        carried: Scored rows that are taken over as they are.
        carried_from: The files of the run that these rows are of; None if there are none, or if they are in place already.
        source: What the identity says besides rows and servers.
        configuration: The words that chose the configuration, so that a finished run can be scored again without them.
        prices: What the servers cost, by name.
        meter: Makes what adds up the cost; None if nobody can tell it.
    """

    servers: Callable[[], AbstractAsyncContextManager[ServerCalls]]
    instances: Sequence[Instance]
    attempt: Callable[[ServerCalls], Awaitable[Attempt]]
    agent: str
    scorer: str
    rows: Sequence[Json]
    files: RunFiles
    concurrency: int
    max_attempts: int = 3
    resume: bool = False
    overwrite: bool = False
    joins: bool = False
    aggregate: bool = True
    only: AbstractSet[Key] | None = None
    judging: AbstractSet[str] = frozenset()
    carried: Iterable[Json] = ()
    carried_from: RunFiles | None = None
    source: Json = field(default_factory=dict)
    configuration: Json = field(default_factory=dict)
    prices: Json = field(default_factory=dict)
    meter: MakeMeter | None = None
