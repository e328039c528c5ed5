# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Answers that arrive together, let through a few at a time."""

from __future__ import annotations

import asyncio

from gym_host.models.pacing import Pacer

STEPS_TO_THE_NEXT_QUESTION = 5


async def test_the_first_answer_leads_to_its_next_question_before_the_last_one_is_looked_at():
    pacer, seen = Pacer(at_once=2), list[str]()

    async def conversation(number: int) -> None:
        await pacer.admit()
        seen.append(f"answer {number}")
        for _ in range(STEPS_TO_THE_NEXT_QUESTION):
            await asyncio.sleep(0)
        seen.append(f"question {number}")

    await asyncio.gather(*map(conversation, range(40)))
    assert len(seen) == 80
    assert seen.index("question 0") < seen.index("answer 39")
    assert [word for word in seen if word.startswith("answer")] == [f"answer {number}" for number in range(40)]


async def test_nobody_waits_where_few_come():
    pacer = Pacer(at_once=2)
    for _ in range(10):
        taking = pacer.admit()
        try:
            taking.send(None)
        except StopIteration:
            pass
        else:
            raise AssertionError("it waited")
        await asyncio.sleep(0)
        await asyncio.sleep(0)


async def test_a_waiter_that_is_cancelled_costs_nobody_a_turn():
    pacer = Pacer(at_once=1)
    waiting = [asyncio.create_task(pacer.admit()) for _ in range(5)]
    await asyncio.sleep(0)
    for task in waiting[1:4]:
        task.cancel()
    async with asyncio.timeout(5):
        results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(result) for result in results] == [type(None), *[asyncio.CancelledError] * 3, type(None)]
    async with asyncio.timeout(5):
        await pacer.admit()
