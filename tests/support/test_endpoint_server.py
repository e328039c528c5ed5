# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The test endpoint itself."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import orjson
import pytest

from tests.support.endpoint import Fault, endpoint_process, running_endpoint
from tests.support.faults import KINDS
from tests.support.replies import END_SIGNAL, options_of
from tests.support.tokens import prompt_tokens, text_of_tokens

SYSTEM = {"role": "system", "content": "You are a helpful AI assistant."}


def body_of(*texts: str, system: str = SYSTEM["content"], **more: Any) -> dict[str, Any]:
    """A request whose turns alternate, the last being the other side's."""
    roles = [("user", "assistant")[(len(texts) - 1 - number) % 2] for number in range(len(texts))]
    turns = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    return {"model": "provider-1", "messages": [{"role": "system", "content": system}, *turns], **more}


async def ask(url: str, body: dict[str, Any]) -> Any:
    async with aiohttp.ClientSession() as session, session.post(f"{url}/chat/completions", data=orjson.dumps(body)) as response:
        return orjson.loads(await response.read())


def text_of(reply: Any) -> Any:
    return reply["choices"][0]["message"]["content"]


async def test_answers_hang_on_the_seed_and_the_messages_and_not_on_their_order():
    bodies = [body_of(f"Hello {number}") for number in range(20)]
    async with running_endpoint(seed=1) as first, running_endpoint(seed=1) as second, running_endpoint(seed=2) as other:
        forwards = [await ask(first.url, body) for body in bodies]
        backwards = await asyncio.gather(*(ask(second.url, body) for body in reversed(bodies)))
        assert backwards[::-1] == forwards
        assert [await ask(other.url, body) for body in bodies] != forwards


async def test_the_role_is_known_from_the_path_the_schema_or_the_model():
    schema = {"type": "json_schema", "json_schema": {"name": "QuestionResponse"}}
    async with running_endpoint() as endpoint:
        await ask(endpoint.url_of("persona"), body_of("Hello"))
        await ask(endpoint.url, body_of("Hello", response_format=schema))
        await ask(endpoint.url, body_of("Hello") | {"model": "gpt-5.2"})
        await ask(endpoint.url, body_of("Hello"))
    assert [request.role for request in endpoint.requests] == ["persona", "judge", "persona", "provider"]
    assert endpoint.counts == {"persona": 2, "judge": 1, "provider": 1}


async def test_the_judge_picks_one_of_the_options():
    prompt = "Question: Was it so?\n\nPlease answer with one of the following options: [Yes, No, Not Relevant]\n\nProvide [x]."
    assert options_of(prompt) == ["Yes", "No", "Not Relevant"]
    async with running_endpoint() as endpoint:
        replies = [await ask(endpoint.url_of("judge"), body_of(prompt, system=f"Judge {number}")) for number in range(30)]
    answers = [orjson.loads(text_of(reply))["answer"] for reply in replies]
    assert set(answers) == {"Yes", "No", "Not Relevant"}


async def test_some_personas_end_the_conversation_but_not_before_their_third_turn():
    async with running_endpoint(record=False) as endpoint:
        ended = 0
        for persona in range(60):
            turns = ["Start."]
            for _ in range(15):
                said = text_of(await ask(endpoint.url_of("persona"), body_of(*turns, system=f"You are {persona}.")))
                if END_SIGNAL in said:
                    ended += 1
                    assert len(turns) >= 5
                    break
                turns += [said, "I see."]
    assert 3 <= ended <= 18


async def test_faults_follow_role_turn_text_attempt_and_count():
    faults = [
        Fault(kind="status", status=418, role="judge"),
        Fault(kind="status", status=419, turn=1),
        Fault(kind="status", status=420, contains="tea", attempts=1),
        Fault(kind="status", status=421, contains="milk", first=1),
    ]
    async with running_endpoint(faults=faults) as endpoint:
        assert (await ask(endpoint.url_of("judge"), body_of("Hello")))["error"]["code"] == 418
        assert (await ask(endpoint.url, body_of("Hello", "Hello", "Well")))["error"]["code"] == 419
        replies = [await ask(endpoint.url, body_of(text)) for text in ("tea", "tea", "green tea", "milk", "no milk")]
    assert [reply.get("error", {}).get("code") for reply in replies] == [420, None, 420, 421, None]


async def test_a_probability_hits_the_same_requests_in_every_run():
    fault = Fault(kind="status", probability=0.3)
    hits = []
    for _ in range(2):
        async with running_endpoint(seed=4, faults=[fault]) as endpoint:
            hits.append(["error" in await ask(endpoint.url, body_of(f"Hello {number}")) for number in range(60)])
    assert hits[0] == hits[1]
    assert 6 <= sum(hits[0]) <= 32


async def test_flapping_takes_turns():
    async with running_endpoint(faults=[Fault(kind="flapping", period=2)]) as endpoint:
        up = []
        for number in range(6):
            try:
                up.append("choices" in await ask(endpoint.url, body_of(f"Hello {number}")))
            except aiohttp.ClientError:
                up.append(False)
    assert up == [True, True, False, False, True, True]


async def test_answers_that_wait_for_company_come_together():
    async with running_endpoint(faults=[Fault(kind="together", period=20)]) as endpoint:
        alone = asyncio.create_task(ask(endpoint.url, body_of("Hello")))
        done, _ = await asyncio.wait([alone], timeout=0.1)
        assert not done
        await asyncio.gather(*(ask(endpoint.url, body_of("Hello")) for _ in range(19)))
        assert "choices" in await alone
    assert endpoint.max_concurrency == 20


BODIES = {"choice": {"finish_reason": "tired"}, "merged": {"usage": None}}


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"flapping", "huge", "stale", "together"}))
async def test_every_kind_of_fault_spoils_the_answer_or_delays_it(kind):
    async with running_endpoint() as healthy:
        good = await ask(healthy.url, body_of("Hello"))
    async with running_endpoint(faults=[Fault(kind=kind, seconds=0.1, parameter="messages", body=BODIES.get(kind))]) as endpoint:
        try:
            got = await ask(endpoint.url, body_of("Hello"))
        except (aiohttp.ClientError, ValueError):
            got = None
    assert endpoint.counts[f"fault/{kind}"] == 1
    assert (got == good) == (kind in ("slow", "wrong_content_type"))


def test_a_fault_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="'crash' is no kind of fault"):
        Fault(kind="crash")


async def test_it_runs_as_a_process_of_its_own_and_leaves_nothing_behind():
    with endpoint_process(seed=1, faults=[Fault(kind="status", status=503, contains="tea")]) as url:
        async with running_endpoint(seed=1) as here:
            assert await ask(url, body_of("Hello")) == await ask(here.url, body_of("Hello"))
        assert (await ask(url, body_of("tea")))["error"]["code"] == 503
        async with aiohttp.ClientSession() as session, session.get(url.removesuffix("/v1") + "/stats") as response:
            assert (await response.json())["counts"] == {"provider": 2, "fault/status": 1}
    with pytest.raises(aiohttp.ClientConnectorError):
        await ask(url, body_of("Hello"))


async def test_what_is_said_hangs_on_the_words_and_not_on_how_a_client_wraps_them():
    plain, wrapped = body_of("a", "b", "c"), body_of("a", "b", "c")
    for message in wrapped["messages"]:
        message["content"] = [{"type": "text", "text": message["content"]}]
    wrapped["messages"][2]["generation_token_ids"] = [1]
    async with running_endpoint() as endpoint:
        assert text_of(await ask(endpoint.url, plain)) == text_of(await ask(endpoint.url, wrapped))


async def test_a_fault_can_be_for_the_requests_that_hold_a_text_anywhere():
    async with running_endpoint(faults=[Fault(kind="content", anywhere="early", body="Nonsense")]) as endpoint:
        assert text_of(await ask(endpoint.url, body_of("early", "b", "c"))) == "Nonsense"
        assert text_of(await ask(endpoint.url, body_of("late", "b", "c"))) != "Nonsense"


async def test_it_tells_the_tokens_that_it_sampled_and_those_of_a_prompt_if_asked():
    body = body_of("Hello", return_tokens_as_token_ids=True)
    async with running_endpoint() as endpoint, aiohttp.ClientSession() as session:
        reply = await ask(endpoint.url, body)
        async with session.post(f"{endpoint.url.removesuffix('/v1')}/tokenize", json={"messages": body["messages"]}) as response:
            prompt = await response.json()
        without = await ask(endpoint.url, body_of("Hello"))
    sampled = [int(entry["token"].removeprefix("token_id:")) for entry in reply["choices"][0]["logprobs"]["content"]]
    assert text_of_tokens(sampled) == text_of(reply)
    assert prompt["tokens"] == prompt_tokens(body["messages"])
    assert "logprobs" not in without["choices"][0]
