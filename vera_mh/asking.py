# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Asking the judge one question, until its reply can be read; and asking several at once, before it is known which are needed.

Reproduces the requests of upstream's `LLMJudge._ask_single_question` at the pinned commit. A reply that cannot be read is asked
for again and never guessed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vera_mh.errors import JudgeFailed, ModelError
from vera_mh.models import ChatModel, Json
from vera_mh.reply import REPLY_SCHEMA, JudgePrompt, Reply, read_reply
from vera_mh.responses import reported_fault, sent_parameters
from vera_mh.rubric import Question
from vera_mh.transcript import sha256

RAW_REPLY_LIMIT = 4000
"""Characters of an unusable reply that are kept with a failure."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with its usable reply.

    Attributes:
        question: The question.
        reply: The reply.
        receipts: One for each call that it took, in order; the last one is that of the reply.
    """

    question: Question
    reply: Reply
    receipts: Sequence[Json]

    @property
    def response_id(self) -> str | None:
        id_: str | None = self.receipts[-1]["response_id"]
        return id_


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks questions about one transcript. All its requests share the system prompt and the cache key.

    Attributes:
        model: The judge model.
        judge_prompt: The system prompt of all requests, with the transcript in it.
        question_prompt: The user prompt of a question.
        parse_retries: How often an unusable reply is asked for again, for each question.
        request: Further parameters of each request.
        cache_key: The `prompt_cache_key` of each request.
    """

    model: ChatModel
    judge_prompt: JudgePrompt
    question_prompt: Callable[[Question], str]
    parse_retries: int
    request: Mapping[str, Any]
    cache_key: str

    async def ask(self, question: Question) -> Answered:
        """Asks one question.

        Raises:
            JudgeFailed: The judge model failed, or gave no usable reply.
        """
        system, user = self.judge_prompt.text, self.question_prompt(question)
        body = {
            **self.request,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "response_format": REPLY_SCHEMA,
            "prompt_cache_key": self.cache_key,
        }
        prompt_sha256 = sha256(f"{system}\n{user}")
        receipts: list[Json] = []
        for attempt in range(1, self.parse_retries + 2):
            receipt = await self._call(question, body, attempt, prompt_sha256, receipts)
            receipts.append(receipt)
            reply = read_reply(receipt["content"], self.judge_prompt)
            if reply is not None:
                return Answered(question, reply, receipts)
        message = f"the judge gave no usable reply to question {question.id} in {len(receipts)} attempts"
        raise _failure(message, question, len(receipts), receipts)

    async def _call(self, question: Question, body: Json, attempt: int, prompt_sha256: str, receipts: Sequence[Json]) -> Json:
        try:
            completion = await self.model.complete(body)
            choice = _first_choice(completion)
        except ModelError as error:
            message = f"the judge model failed at question {question.id}: {error.message}"
            raise _failure(message, question, attempt, receipts) from error
        reply = choice.get("message")
        content = reply.get("content") if isinstance(reply, Mapping) else None
        content = content if isinstance(content, str) else None
        return {
            "question_id": question.id,
            "attempt": attempt,
            "judge_model": completion.get("model"),
            "response_id": completion.get("id"),
            "finish_reason": choice.get("finish_reason"),
            "usage": completion.get("usage"),
            "content": content,
            "content_sha256": sha256(content or ""),
            "prompt_sha256": prompt_sha256,
        } | sent_parameters(completion)


def _first_choice(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = completion.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    # What was said before a generation broke off may be whole by chance; it is no answer.
    fault = reported_fault(completion) or (reported_fault(first) if isinstance(first, Mapping) else None)
    if fault:
        raise ModelError(fault)
    if not isinstance(first, Mapping):
        raise ModelError("the answer has no choices")
    if first.get("finish_reason") == "error":
        raise ModelError("the generation ended with an error")
    return first


def _failure(message: str, question: Question, attempts: int, receipts: Sequence[Json]) -> JudgeFailed:
    """The failure at a question, with the judge's last reply to it."""
    last = receipts[-1] if receipts else {}
    content = last.get("content")
    return JudgeFailed(
        message,
        question_id=question.id,
        attempts=attempts,
        raw_reply=content[:RAW_REPLY_LIMIT] if content is not None else None,
        finish_reason=last.get("finish_reason"),
        usage=last.get("usage"),
        receipts=receipts,
    )


@dataclass(slots=True)
class QuestionsAhead:
    """Questions in flight. Those that turn out not to be needed cost calls and nothing else; a failure of theirs does not count.

    Attributes:
        asker: Asks them.
        plan: The questions to ask when one is needed that was not asked yet; the needed one first.
        parallel: Questions in flight at the most.
        rounds: How often the walk had to wait for questions that had not been asked ahead.
    """

    asker: Asker
    plan: Callable[[Question], Sequence[Question]]
    parallel: int
    rounds: int = 0
    _tasks: dict[str, asyncio.Task[Answered]] = field(default_factory=dict)
    _slots: asyncio.Semaphore | None = None

    async def answer(self, question: Question) -> Answered:
        """The answer to a question that the walk needs.

        Raises:
            JudgeFailed: As in `Asker.ask`.
        """
        if question.id not in self._tasks:
            self.rounds += 1
            for ahead in self.plan(question):
                if ahead.id not in self._tasks:
                    self._tasks[ahead.id] = asyncio.create_task(self._ask(ahead))
        return await self._tasks[question.id]

    async def _ask(self, question: Question) -> Answered:
        self._slots = self._slots or asyncio.Semaphore(self.parallel)
        async with self._slots:
            return await self.asker.ask(question)

    async def close(self, needed: Collection[str]) -> list[Json]:
        """Gives up what is still in flight.

        Args:
            needed: Ids of the questions that the walk needed.

        Returns:
            The receipts of all calls that were answered and not needed, each marked `speculative`.
        """
        receipts: list[Json] = []
        for task in self._tasks.values():
            task.cancel()
        ended = await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for id_, end in zip(self._tasks, ended, strict=True):
            if id_ not in needed and isinstance(end, Answered | JudgeFailed):
                receipts += [{**receipt, "speculative": True} for receipt in end.receipts]
        return receipts
