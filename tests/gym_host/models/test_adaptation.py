# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Number 11 of the project's list of failures: an endpoint that does not know a parameter."""

from __future__ import annotations

import pytest

from gym_host.models.errors import ChatError
from tests.support.asking import BODY, endpoint_at, outcome_of
from tests.support.endpoint import Fault, running_endpoint

TEMPERATURE = Fault(kind="unsupported", parameter="temperature")
MAX_TOKENS = Fault(kind="unsupported", parameter="max_tokens", instead="max_completion_tokens")


async def test_refused_parameters_are_adapted_once_and_remembered():
    body = BODY | {"temperature": 0, "max_tokens": 99}
    async with running_endpoint(faults=[TEMPERATURE, MAX_TOKENS]) as server, endpoint_at(server.url) as endpoint:
        first = await endpoint.chat(body, {"temperature"})
        second = await endpoint.chat(body, {"temperature"})
    assert (first.attempts, second.attempts) == (3, 1)
    assert first.sent == second.sent == {"temperature": None, "max_tokens": None, "max_completion_tokens": 99}
    assert server.bodies()[-1] == BODY | {"model": "provider-1", "max_completion_tokens": 99}
    assert server.counts["provider"] == 4
    assert body == BODY | {"temperature": 0, "max_tokens": 99}


async def test_a_parameter_that_was_set_by_hand_is_a_clear_error_even_once_it_is_known():
    async with running_endpoint(faults=[TEMPERATURE]) as server, endpoint_at(server.url) as endpoint:
        await endpoint.chat(BODY | {"temperature": 0}, {"temperature"})
        with pytest.raises(ChatError, match="does not take `temperature`, which was set by hand") as caught:
            await endpoint.chat(BODY | {"temperature": 0})
    assert (caught.value.kind, caught.value.status) == ("refused", 400)


async def test_what_the_settings_say_counts_as_set_by_hand():
    error, _ = await outcome_of([TEMPERATURE], adaptable={"temperature"}, extra_body={"temperature": 0.6})
    assert "set by hand" in error.message


async def test_an_endpoint_that_refuses_both_names_of_a_limit_is_not_asked_for_ever():
    error, server = await outcome_of(
        [MAX_TOKENS, Fault(kind="unsupported", parameter="max_completion_tokens")], body=BODY | {"max_tokens": 9}
    )
    assert error.kind == "refused"
    assert server.counts["provider"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Unrecognized request argument supplied: prompt_cache_key"}},
        {"error": {"message": "property 'prompt_cache_key' is unsupported"}},
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "prompt_cache_key"], "msg": "Extra inputs are not permitted"}]},
        {"error": {"message": "No.", "param": "prompt_cache_key", "code": "unknown_parameter"}},
    ],
)
@pytest.mark.parametrize("status", [400, 422])
async def test_a_refused_parameter_is_recognised_in_the_words_of_many_servers(status, body):
    fault = Fault(kind="status", status=status, body=body, attempts=1)
    reply, server = await outcome_of([fault], body=BODY | {"prompt_cache_key": "c1"}, adaptable={"prompt_cache_key"})
    assert reply.sent == {"prompt_cache_key": None}
    assert "prompt_cache_key" not in server.bodies()[-1]


async def test_a_limit_above_what_the_model_can_say_is_not_taken_for_an_unknown_parameter():
    message = "'max_tokens' is too large: 100000. This model's maximum context length is 4096 tokens."
    fault = Fault(kind="status", status=400, body={"error": {"message": message, "param": "max_tokens", "code": None}})
    error, server = await outcome_of([fault], body=BODY | {"max_tokens": 100_000})
    assert error.message.startswith(f"{message} (HTTP 400 from ")
    assert server.counts["provider"] == 1


async def test_an_endpoint_without_structured_replies_is_told_as_that_and_not_as_a_users_setting():
    fault = Fault(kind="unsupported", parameter="response_format")
    async with running_endpoint(faults=[fault]) as server, endpoint_at(server.url) as endpoint:
        with pytest.raises(ChatError, match="replies of a fixed JSON shape") as caught:
            await endpoint.chat({"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_object"}})
    assert "set by hand" not in caught.value.message
    assert "adaptable_parameters" in caught.value.message
