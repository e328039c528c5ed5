# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Secrets are masked before anything is shown or written."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_host.config.masking import MASK, is_secret_name, mask_text, masked, secrets_in

PLANTED = "pLaNtEd0123456789"

plain_keys = st.sampled_from(["model", "a", "extra_body", "seed", "items", "url", "X-Title"])
scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["text", "", "http://h:1/v1"])
containers = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain_keys, inner, max_size=3), max_leaves=8
)
affixes = st.sampled_from(["", "my_", "OPENAI_", "x-", "hf", "judge."])
secret_words = st.sampled_from(["key", "apiKey", "token", "password", "secret", "Authorization", "credentials", "clientSecret"])
secret_names = st.builds(
    lambda before, word, after: before + word + after, affixes, secret_words, st.sampled_from(["", "_2", "s", "_file"])
)
header_names = st.sampled_from(["Authorization", "X-Api-Key", "x-whatever", "Cookie", "Ocp-Apim-Subscription-Id"])
raw = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=6)


@st.composite
def urls(draw: st.DrawFn) -> str:
    """URLs with the planted secret as user, password, query value or fragment; the password may be written raw."""
    secret = draw(raw) + PLANTED + draw(raw)
    return draw(
        st.sampled_from(
            [
                f"https://user:{secret}@host:8000/v1",
                f"http://{PLANTED}@host/v1",
                f"https://{PLANTED}:@host/v1?x=y@z",
                f"https://host/v1?api-version=1&key={secret}",
                f"https://host/v1#{secret}",
                f"HTTPS://user:pw@host?email=a@b.c&sig={secret}",
            ]
        )
    )


@st.composite
def planted(draw: st.DrawFn) -> Any:
    """Containers with the secret at one place where users put secrets, at any depth."""
    deep = draw(containers)
    below = draw(st.sampled_from([PLANTED, [PLANTED], {"value": PLANTED}, {"a": [{"b": PLANTED}]}, [[PLANTED, 5]]]))
    place = draw(
        st.one_of(
            st.builds(lambda name: {name: below}, secret_names),
            st.builds(lambda kind, name: {kind: {name: below}}, st.sampled_from(["headers", "default_headers"]), header_names),
            st.builds(lambda url: {"base_url": url}, urls()),
            st.builds(lambda url: [f"see {url}" if " " not in url else url], st.just(f"https://me:{PLANTED}@host/?k={PLANTED}")),
            st.just({"note": f"Authorization: Bearer {PLANTED}"}),
            st.just({"policy_api_key": PLANTED, "echo": [f"Incorrect API key provided: {PLANTED}."], PLANTED: 1}),
        )
    )
    for key in draw(st.lists(plain_keys, max_size=3)):
        place = draw(st.sampled_from([{key: place}, [place], {key: place, "other": deep}, [deep, place]]))
    return place


def shape(node: Any) -> Any:
    if isinstance(node, dict):
        return [shape(value) for value in node.values()]
    return [shape(item) for item in node] if isinstance(node, list) else None


@given(planted())
def test_a_planted_secret_never_survives(values: Any):
    before = copy.deepcopy(values)
    assert PLANTED not in json.dumps(masked(values))
    assert values == before


@given(planted())
def test_masking_keeps_the_shape_and_changes_nothing_the_second_time(values: Any):
    once = masked(values)
    assert shape(once) == shape(values)
    assert masked(once) == once


@given(containers)
def test_what_holds_no_secret_stays_as_it_is(values: Any):
    assert masked(values) == values


@given(urls())
def test_a_url_is_masked_alone_and_in_a_text(url: str):
    assert PLANTED not in mask_text(url)
    if not set(url) & set(' "<>'):
        assert PLANTED not in mask_text(f"cannot connect to {url} now")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://me:pw@host:8000/v1", "https://****@host:8000/v1"),
        ("https://host/v1?api-version=2024&sig=abc#frag", "https://host/v1?****"),
        ("https://host/v1#frag", "https://host/v1#****"),
        ("https://me:p@ss/w@host/v1", "https://****@host/v1"),
        ("https://me:p?w@host/v1", "https://****"),
        ("https://me:p w@host/v1", "https://****@host/v1"),
        ("me:pw@host:8000/v1", "****@host:8000/v1"),
        ("http://[::1", "http://[::1"),
        ("", ""),
    ],
)
def test_a_url_keeps_what_is_no_secret(url: str, shown: str):
    assert mask_text(url) == shown


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "OPENAI_API_KEY", "policy_api_key", "hf_token", "hfToken", "password", "client-secret", "Authorization"]
    + [
        "aws_credentials",
        "tokens",
        "token",
        "key",
        "access_token_2",
        "auth",
        "basic_auth",
        "session_cookie",
        "max_tokens_secret",
    ],
)
def test_names_of_secrets_are_known(name: str):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    ["max_tokens", "maxTokens", "max_output_tokens", "max_completion_tokens", "num_tokens", "total_tokens", "prompt_tokens"]
    + ["cached_tokens", "input_tokens_details", "output_tokens_details", "num_tokens_per_second", "prompt_cache_key", "tokenizer"]
    + [
        "token_count",
        "prompt_token_ids",
        "return_token_id_information",
        "key_metrics",
        "keywords",
        "author",
        "model",
        "base_url",
    ],
)
def test_names_that_only_sound_secret_are_left_alone(name: str):
    assert not is_secret_name(name)
    assert masked({name: "value"}) == {name: "value"}


def test_switches_nulls_and_references_under_a_secret_name_stay_readable():
    values = {"api_key": None, "use_key": True, "a_key": "", "b_key": "${policy_api_key}", "c_key": "${oc.env:OPENAI_API_KEY}"}
    assert masked(values) == values
    assert masked({"d_key": "${oc.env:X,sk-default}", "password": 12345678}) == {"d_key": MASK, "password": MASK}


def test_harmless_headers_are_shown_and_all_others_are_masked():
    headers = {"User-Agent": "gym", "X-Title": "t", "Authorization": "Bearer x", "X-Team": "blue"}
    assert masked({"default_headers": headers}) == {
        "default_headers": {"User-Agent": "gym", "X-Title": "t", "Authorization": MASK, "X-Team": MASK}
    }
    assert masked({"headers": ["Authorization: x"], "header": "Authorization: x"}) == {"headers": [MASK], "header": MASK}


def test_the_secrets_of_a_configuration_are_found_to_be_masked_in_other_texts():
    secrets = secrets_in({"api_key": "long-enough", "token": "EMPTY", "headers": {"X": "header-value"}, "model": "harmless-name"})
    assert secrets == {"long-enough", "header-value"}
    assert mask_text("401: wrong key long-enough", secrets) == "401: wrong key ****"
    assert secrets_in({"headers": {"Authorization": "Bearer long-enough"}}) == {"Bearer long-enough", "long-enough"}


@pytest.mark.parametrize("unit", ["a", "a:", "a.", "://a", "a@", "sk-", "?"])
def test_a_long_text_without_spaces_is_masked_in_a_time_that_grows_with_its_length(unit: str):
    started = time.perf_counter()
    mask_text(unit * 100_000)
    assert time.perf_counter() - started < 5


def test_texts_keep_what_is_no_secret():
    text = "My risk-assessment key question: bearer of bad news? See https://host/a, then 10:30@noon. A sk-1 ticket."
    assert mask_text(text).startswith("My risk-assessment key question: bearer of bad news? See https://host/a,")
    assert mask_text("sk-proj-0123456789abcdef, ok") == "****, ok"
