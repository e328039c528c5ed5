# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Requests keep prompt caches warm: what one conversation asks of one model grows at its end and nowhere else."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench.chain import CONFIG, PROJECT, write_rows
from tests.support.endpoint import TestEndpoint, running_endpoint

Json = dict[str, Any]
Messages = list[Json]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> TestEndpoint:
    """An endpoint that was asked everything of six conversations, two at once, so that their requests mix."""
    return asyncio.run(_asked(tmp_path_factory.mktemp("cache")))


async def _asked(folder: Path) -> TestEndpoint:
    rows = write_rows(folder / "rows.jsonl", 6, max_turns=12)
    async with running_endpoint(seed=5) as endpoint:
        words = ["--config", str(CONFIG), "--agent", "vera_mh_agent", "--input", str(rows), "--output", str(folder / "x.jsonl")]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gym_host.cli.main", "eval", "run", *words, "--concurrency", "2"),
            cwd=PROJECT,
            env=os.environ | {"BENCH_URL": endpoint.url.removesuffix("/v1")},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
    return endpoint


def by_conversation(bodies: Iterable[Json], key: Callable[[Json], str]) -> list[list[Messages]]:
    """The message lists of each conversation, in the order in which they were sent."""
    found: defaultdict[str, list[Messages]] = defaultdict(list)
    for body in bodies:
        found[key(body)].append(body["messages"])
    return list(found.values())


def cached(before: Messages, after: Messages) -> int:
    """How many messages at its start a request shares with the one before."""
    same = (number for number, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    return next(same, min(len(before), len(after)))


def test_the_chatbot_sees_its_last_request_again_and_two_messages_more(asked: TestEndpoint):
    conversations = by_conversation(asked.bodies("provider"), lambda body: str(body["messages"][0]))
    assert len(conversations) == 6
    for requests in conversations:
        for before, after in zip(requests, requests[1:], strict=False):
            assert cached(before, after) == len(before)
            assert len(after) == len(before) + 2


def test_the_persona_sees_its_last_request_again_up_to_its_latest_user_message(asked: TestEndpoint):
    """The role reminder stands before the latest user message only, as upstream has it, so that message is written anew."""
    conversations = by_conversation(asked.bodies("persona"), lambda body: str(body["messages"][0]))
    assert len(conversations) == 6
    for requests in conversations:
        # The first request holds the start prompt, which appears in no later one.
        assert cached(requests[0], requests[1]) == 1
        for before, after in zip(requests[1:], requests[2:], strict=False):
            assert cached(before, after) == len(before) - 1


def test_all_questions_of_a_conversation_share_their_first_message_and_their_cache_key(asked: TestEndpoint):
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for body in asked.bodies("judge"):
        keys[str(body["messages"][0])].add(body["prompt_cache_key"])
    assert len(keys) == 6
    assert all(len(of_one) == 1 for of_one in keys.values())
    assert len(set.union(*keys.values())) == 6


class PrefixCache:
    """What an endpoint's prefix cache does: of each prompt it knows the bytes that an earlier prompt started with."""

    def __init__(self) -> None:
        self._prompts: list[bytes] = []

    def take(self, messages: Messages) -> tuple[int, int]:
        """Bytes of a prompt, in the order in which they were sent, and how many of them are known."""
        prompt = orjson.dumps(messages)
        known = max((len(os.path.commonprefix([prompt, earlier])) for earlier in self._prompts), default=0)
        self._prompts.append(prompt)
        return len(prompt), known


def test_a_prefix_cache_finds_byte_for_byte_all_but_what_is_new_of_every_role(asked: TestEndpoint):
    for requests in by_conversation(asked.bodies("provider"), lambda body: str(body["messages"][0])):
        cache = PrefixCache()
        sizes = [cache.take(messages) for messages in requests]
        for (before, _), (_, known) in zip(sizes, sizes[1:], strict=False):
            assert known == before - 1  # all of the last request but the bracket at its end
    for requests in by_conversation(asked.bodies("persona"), lambda body: str(body["messages"][0])):
        cache = PrefixCache()
        for messages, (_, known) in [(messages, cache.take(messages)) for messages in requests][2:]:
            assert known >= len(orjson.dumps(messages[:-3]))  # up to what was the latest user message
    for requests in by_conversation(asked.bodies("judge"), lambda body: str(body["messages"][0])):
        cache = PrefixCache()
        first, *others = [cache.take(messages) for messages in requests]
        assert first[1] == 0
        assert others
        for _, known in others:
            assert known > len(orjson.dumps(requests[0][:1])) - 1  # the system prompt with the transcript


def test_what_could_be_cached_is_most_of_what_is_sent_in_a_long_conversation(asked: TestEndpoint):
    longest = max(by_conversation(asked.bodies("provider"), lambda body: str(body["messages"][0])), key=len)
    sent = sum(len(messages) for messages in longest)
    warm = sum(cached(before, after) for before, after in zip(longest, longest[1:], strict=False))
    assert warm / sent > 0.6
