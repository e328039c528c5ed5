# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The judge: asks a model the questions of the rubric about one transcript, and returns a verdict.

Reproduces upstream's `judge/llm_judge.py` at the pinned commit. Each question is a fresh request of two messages; the walk
decides which questions are asked; a reply that cannot be read is asked for again and never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vera_mh.asking import Answered, Asker, QuestionsAhead
from vera_mh.errors import JudgeFailed, RubricError
from vera_mh.models import ChatModel, Json
from vera_mh.pack import JUDGE_SYSTEM_PROMPT, QUESTION_PROMPT, RUBRIC, Pack
from vera_mh.rating import UNRATED, DimensionRating
from vera_mh.reply import JudgePrompt
from vera_mh.rubric import Question, Rubric, parse_rubric
from vera_mh.speculation import SpeculationPlanner
from vera_mh.transcript import sha256
from vera_mh.walk import Step, Walk


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
        except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
            raise RubricError(f"a judge prompt template of the pack cannot be filled: {error}") from None
        return sheet

    def system_prompt(self, transcript: str) -> str:
        return self.system_template.format(conversation=transcript)

    def judge_prompt(self, transcript: str) -> JudgePrompt:
        """What the judge is given to read beside each question, and its replies are read against."""
        return JudgePrompt(self.system_prompt(transcript))

    def question_prompt(self, question: Question) -> str:
        return self.question_template.format(
            question=question.text,
            options=", ".join(option.text for option in question.options),
            examples_section=f"\n{question.examples}\n" if question.examples else "",
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of judging one transcript.

    Attributes:
        ratings: Every dimension of the rubric -> its rating; a dimension that was not reached is unrated.
        path: The answered questions in order.
        answers: For each step of the path that was asked: its reply and receipts, in order.
        speculative: Receipts of calls that were asked ahead and not needed.
        rounds: How often the walk had to wait for the judge.
    """

    ratings: Mapping[str, DimensionRating]
    path: Sequence[Step]
    answers: Sequence[Answered]
    speculative: Sequence[Json] = ()
    rounds: int = 0

    @property
    def receipts(self) -> list[Json]:
        """Receipts of the calls on the path, in its order."""
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

    @property
    def inexact_answers(self) -> int:
        """Answers that equal no option, case and blanks apart, so that one was found by containment or stood in."""
        return sum(step.answer.strip().lower() != step.raw_answer.strip().lower() for step in self.path)

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
        "goto": step.transition.goto,
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
        planner: Plans which questions to ask ahead; None asks one by one. The verdict is the same.
        max_parallel_questions: Questions of one transcript in flight at the most.
    """

    sheet: JudgeSheet
    model: ChatModel
    parse_retries: int = 8
    request: Mapping[str, Any] = field(default_factory=dict)
    planner: SpeculationPlanner | None = None
    max_parallel_questions: int = 32

    async def judge(self, transcript: str) -> Verdict:
        """Judges one transcript.

        Raises:
            JudgeFailed: The judge model failed, or gave no usable reply to a question on the way.
        """
        walk = Walk(self.sheet.rubric)
        questions = QuestionsAhead(self._asker(transcript), self._plan(), self.max_parallel_questions)
        answers: list[Answered] = []
        failure: JudgeFailed | None = None
        try:
            await _walk(walk, questions, answers)
        except JudgeFailed as error:
            failure = error
        finally:
            needed = {answered.question.id for answered in answers} | ({failure.question_id} if failure else set())
            speculative = await questions.close(needed)
        if failure is not None:
            failure.receipts = [
                *(receipt for answered in answers for receipt in answered.receipts),
                *failure.receipts,
                *speculative,
            ]
            raise failure
        return Verdict(_every_dimension(walk), walk.steps, answers, speculative, questions.rounds)

    def _asker(self, transcript: str) -> Asker:
        return Asker(
            model=self.model,
            judge_prompt=self.sheet.judge_prompt(transcript),
            question_prompt=self.sheet.question_prompt,
            parse_retries=self.parse_retries,
            request=self.request,
            cache_key=f"vera-mh-{sha256(transcript)[:32]}",
        )

    def _plan(self) -> Callable[[Question], Sequence[Question]]:
        return self.planner.plan if self.planner is not None else lambda question: [question]


async def _walk(walk: Walk, questions: QuestionsAhead, answers: list[Answered]) -> None:
    while (question := walk.current) is not None:
        if question.answers_itself:
            walk.answer_itself()
            continue
        answered = await questions.answer(question)
        answers.append(answered)
        walk.answer(answered.reply.answer, answered.reply.reasoning)


def _every_dimension(walk: Walk) -> Mapping[str, DimensionRating]:
    rated = walk.ratings()
    names = dict.fromkeys([*walk.rubric.dimensions, *rated])
    return {dimension: rated.get(dimension, DimensionRating(UNRATED)) for dimension in names}
