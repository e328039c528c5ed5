# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""One attempt at one rollout: what is asked of which server, and what its answer is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gym_host.errors import ServerError, UserError
from gym_host.jsonl import Json
from gym_host.runs.failures import FailedBefore
from gym_host.runs.keys import ATTEMPT_INDEX, FAILURE_CLASS, FAILURE_TERMINAL, ROLLOUT_INDEX, TASK_INDEX, Key, is_score, key_of
from gym_host.runs.stored import StoredRows
from gym_host.serving.calls import ServerCalls

AGENT_RUN_ERROR = "agent_run_error"
JUDGE_FAILED = "judge_failed"

_UNREADABLE = 422
"""Status of a server that cannot read what it is sent."""

_OF_THE_FAILURE = (
    FAILURE_CLASS,
    FAILURE_TERMINAL,
    ATTEMPT_INDEX,
    "failure_details",
    "error",
    "failure_kind",
    "failure_reason",
    "failure_stage",
    "failed_at",
    "duration_seconds",
    "reward",
    "mask_sample",
)
"""Keys of a failed attempt, which the next attempt must not inherit."""


@dataclass(frozen=True, slots=True)
class Task:
    """One rollout to be collected.

    Attributes:
        row: The row as dispatched.
        failed: Failed attempts before this one, or None.
    """

    row: Json
    failed: FailedBefore | None = None

    @property
    def key(self) -> Key:
        return key_of(self.row)

    @property
    def attempt(self) -> int:
        return self.failed.attempts if self.failed else 0

    def judged_again(self) -> Json | None:
        """The row with its finished conversation, if only the judge failed before; None if it has to be run."""
        last = self.failed.last if self.failed else {}
        return without_failure(last) if awaits_judge(last) else None


def awaits_judge(row: Mapping[str, Any]) -> bool:
    """True for a failed row whose conversation is finished, so that only the judging is missing."""
    return row.get(FAILURE_CLASS) == JUDGE_FAILED and isinstance(row.get("response"), dict)


def without_failure(row: Mapping[str, Any]) -> Json:
    """A failed row without what the failed attempt added."""
    left = {key: value for key, value in row.items() if key not in _OF_THE_FAILURE}
    config = left.get("instance_config")
    if isinstance(config, Mapping) and "mask_sample" in config:
        left["instance_config"] = {key: value for key, value in config.items() if key != "mask_sample"}
        if not left["instance_config"]:
            del left["instance_config"]
    return left


class Attempt(Protocol):
    """An attempt at a rollout."""

    async def __call__(self, task: Task) -> Json:
        """Makes the attempt.

        Returns:
            The scored row, or a row with `_ng_failure_class`. Never raises for what a server did.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunAttempt:
    """Has an agent run the row, or its verifier judge what an earlier attempt left unjudged.

    Attributes:
        calls: Calls to the servers.
        agent: Name of the agent instance.
        verifier: Name of its resources server, if that can judge a stored conversation; else None.
    """

    calls: ServerCalls
    agent: str
    verifier: str | None

    async def __call__(self, task: Task) -> Json:
        again = task.judged_again()
        if again is not None and self.verifier is not None:
            # Whatever goes wrong here, the conversation stays in the row, to be judged once more.
            return await _asked(self.calls, self.verifier, "/verify", again, JUDGE_FAILED)
        return await _asked(self.calls, self.agent, "/run", task.row, AGENT_RUN_ERROR)


@dataclass(frozen=True, slots=True)
class ReverifyAttempt:
    """Has a verifier judge a stored conversation anew, from its row and `response` alone.

    What the verifier does not say of a row (how the conversation was simulated) is kept as it was stored. A judging that fails
    keeps nothing of an old verdict.

    Attributes:
        calls: Calls to the servers.
        verifier: Name of the resources server.
        stored: The rollouts with their conversations.
    """

    calls: ServerCalls
    verifier: str
    stored: StoredRows

    async def __call__(self, task: Task) -> Json:
        stored = self.stored.row(task.key)
        row = {**task.row, "response": stored["response"]}
        result = await _asked(self.calls, self.verifier, "/verify", row, JUDGE_FAILED)
        if FAILURE_CLASS in result and FAILURE_CLASS not in stored:
            return result
        return {**without_failure(stored), **result}


async def _asked(calls: ServerCalls, server: str, path: str, row: Json, failure_class: str) -> Json:
    try:
        result = await calls.call(server, path, row)
    except ServerError as error:
        failure = _failure(failure_class, str(error))
        # What an agent cannot read it reads no better the next time. A verifier's refusal keeps the conversation: see above.
        refused = failure_class == AGENT_RUN_ERROR and error.status == _UNREADABLE
        return row | failure | ({FAILURE_TERMINAL: True} if refused else {})
    key = {name: row[name] for name in (TASK_INDEX, ROLLOUT_INDEX)}
    if isinstance(result, dict) and FAILURE_CLASS in result:
        failed = {**row, "reward": 0.0, "mask_sample": True, **result, **key}
        # Half a conversation is of use to a trainer, who asks the agent itself. Here it is run anew.
        return failed if awaits_judge(failed) else {name: failed[name] for name in failed if name != "response"}
    if not isinstance(result, dict) or not is_score(result.get("reward")):
        return row | _failure(failure_class, f"{server} answered without a reward")
    return {**row, **result, **key}


def _failure(failure_class: str, error: str) -> Json:
    return {FAILURE_CLASS: failure_class, "error": error, "reward": 0.0, "mask_sample": True}


async def judges_stored_conversations(calls: ServerCalls, verifier: str) -> bool:
    """True if a verifier says that it can judge a stored conversation again."""
    try:
        return bool(await calls.call(verifier, "/reverify_mode") == "stateless")
    except ServerError:
        return False


async def run_attempt(calls: ServerCalls, agent: str, verifier: str | None) -> RunAttempt:
    """The attempt of a run, once it is known whether the agent's verifier can judge a stored conversation."""
    if verifier is not None and not await judges_stored_conversations(calls, verifier):
        verifier = None
    return RunAttempt(calls, agent, verifier)


async def refuse_unsupported(calls: ServerCalls, verifier: str) -> None:
    """Refuses to reverify with a verifier that cannot.

    Raises:
        UserError: It does not say that it can.
    """
    if not await judges_stored_conversations(calls, verifier):
        raise UserError(
            f"the resources server `{verifier}` does not say that it can judge a stored conversation again",
            where=f"{verifier}/reverify_mode",
            mend="run the conversations anew with `gym eval run`",
        )
