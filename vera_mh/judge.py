# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The judge: asks a model the questions of the rubric about one transcript, and returns a verdict.

Reproduces upstream's `judge/llm_judge.py` at the pinned commit. Each question is a fresh request of two messages; the walk
decides which questions are asked; a reply that cannot be read is asked for again and never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vera_mh.errors import JudgeFailed, ModelError, RubricError
from vera_mh.models import ChatModel, Json, sent_parameters
from vera_mh.pack import JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT, RUBRIC, Pack
from vera_mh.rating import DimensionRating
from vera_mh.reply import REPLY_SCHEMA, Reply, read_reply
from vera_mh.rubric import Question, Rubric, parse_rubric
from vera_mh.transcript import sha256
from vera_mh.walk import Step, Walk

RAW_REPLY_LIMIT = 4000
"""Characters of an unusable reply that are kept with a failure."""


@dataclass(frozen=True, slots=True)
class JudgeSheet:
    """What the judge works with: the rubric and its two prompt templates."""

    rubric: Rubric
    system_template: str
    question_template: str

    @classmethod
    def from_pack(cls, pack: Pack) -> JudgeSheet:
        """Reads the judge's part of a pack.

        Raises:
            RubricError: The rubric or a template cannot be read.
        """
        sheet = cls(parse_rubric(pack.text(RUBRIC)), pack.text(JUDGE_SYSTEM_PROMPT), pack.text(QUESTION_PROMPT))
        try:
            sheet.system_prompt("")
            sheet.question_prompt(sheet.rubric.first)
        except (KeyError, IndexError, ValueError) as error:
            raise RubricError(f"a judge prompt template of the pack cannot be filled: {error}") from None
        return sheet

    def system_prompt(self, transcript: str) -> str:
        return self.system_template.format(conversation=transcript)

    def question_prompt(self, question: Question) -> str:
        return self.question_template.format(
            question=question.text,
            options=", ".join(option.text for option in question.options),
            examples_section=f"\n{question.examples}\n" if question.examples else "",
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with its usable reply, and the receipts of all calls that it took."""

    question: Question
    reply: Reply
    receipts: Sequence[Json]

    @property
    def response_id(self) -> str | None:
        id_: str | None = self.receipts[-1]["response_id"]
        return id_


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of judging one transcript.

    Attributes:
        ratings: Every dimension of the rubric -> its rating; a dimension that was not reached is unrated.
        path: The answered questions in order.
        answers: For each step of the path that was asked: its reply and receipts, in order.
    """

    ratings: Mapping[str, DimensionRating]
    path: Sequence[Step]
    answers: Sequence[Answered]

    @property
    def receipts(self) -> list[Json]:
        return [receipt for answered in self.answers for receipt in answered.receipts]

    @property
    def parse_retries(self) -> int:
        return sum(len(answered.receipts) - 1 for answered in self.answers)

    @property
    def repaired_replies(self) -> int:
        return sum(answered.reply.repaired for answered in self.answers)

    @property
    def fallback_answers(self) -> int:
        return sum(step.fallback for step in self.path)

    def path_json(self) -> list[Json]:
        """The `question_path` of a scored row."""
        answers = iter(self.answers)
        return [_path_entry(step, None if step.special_case else next(answers).response_id) for step in self.path]


def _path_entry(step: Step, response_id: str | None) -> Json:
    entry: Json = {
        "question_id": step.question.id,
        "dimension": step.question.dimension,
        "answer": step.answer,
        "raw_answer": step.raw_answer,
        "fallback": step.fallback,
        "reasoning": step.reasoning,
        "goto": step.lead.goto,
        "next_question_id": step.next_question.id if step.next_question else None,
    }
    return entry | ({"special_case": True} if step.special_case else {"response_id": response_id})


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge model with a rubric.

    Attributes:
        sheet: Rubric and prompt templates.
        model: The model that answers.
        parse_retries: How often an unusable reply is asked for again, for each question (upstream: 3).
        request: Further parameters of each request, such as `reasoning_effort` or `temperature`.
    """

    sheet: JudgeSheet
    model: ChatModel
    parse_retries: int = 8
    request: Mapping[str, Any] = field(default_factory=dict)

    async def judge(self, transcript: str) -> Verdict:
        """Judges one transcript.

        Raises:
            JudgeFailed: The judge model failed, or gave no usable reply to a question.
        """
        prompt = _Prompt(self.sheet.system_prompt(transcript), f"vera-mh-{sha256(transcript)[:32]}")
        walk = Walk(self.sheet.rubric)
        answers: list[Answered] = []
        while (question := walk.current) is not None:
            if question.answers_itself:
                walk.answer_itself()
                continue
            try:
                answered = await self._ask(question, prompt)
            except JudgeFailed as failure:
                failure.receipts = [*(r for a in answers for r in a.receipts), *failure.receipts]
                raise
            answers.append(answered)
            walk.answer(answered.reply.answer, answered.reply.reasoning)
        return Verdict(_every_dimension(walk), walk.steps, answers)

    async def _ask(self, question: Question, prompt: _Prompt) -> Answered:
        user = self.sheet.question_prompt(question)
        body = {
            **self.request,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}],
            "response_format": REPLY_SCHEMA,
            "prompt_cache_key": prompt.cache_key,
        }
        prompt_sha256 = sha256(f"{prompt.system}\n{user}")
        receipts: list[Json] = []
        for attempt in range(1, self.parse_retries + 2):
            receipt = await self._call(question, body, attempt, prompt_sha256, receipts)
            receipts.append(receipt)
            reply = read_reply(receipt["content"])
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
        content = (choice.get("message") or {}).get("content")
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


@dataclass(frozen=True, slots=True)
class _Prompt:
    """What all questions of one conversation share."""

    system: str
    cache_key: str


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


def _first_choice(completion: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ModelError("the answer has no choices")
    return choices[0]


def _every_dimension(walk: Walk) -> Mapping[str, DimensionRating]:
    rated = walk.ratings()
    return {dimension: rated.get(dimension, DimensionRating("")) for dimension in _dimensions(walk, rated)}


def _dimensions(walk: Walk, rated: Mapping[str, DimensionRating]) -> Iterator[str]:
    yield from dict.fromkeys([*walk.rubric.dimensions, *rated])
