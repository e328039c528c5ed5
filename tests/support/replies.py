# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the test endpoint says: a function of the seed and the messages, whatever the order and the time of the requests.

All of it is bland on purpose. The benchmark's subject is suicide risk, and no test needs a word about it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson

END_SIGNAL = "<END OF CONVERSATION>"
ROLES = ("judge", "persona", "provider")
CREATED = 1_767_225_600

_MODEL_ROLES = {"judge": "judge", "gpt-5.4": "judge", "persona": "persona", "gpt-5.2": "persona", "opus": "persona"}
_PERSONA_LINES = (
    "I had a long day.",
    "The bus was late again this morning.",
    "I am not sure where to start.",
    "My sister called me yesterday.",
    "I did some cooking at the weekend.",
    "Work has been busy this month.",
    "I slept a little better last night.",
    "That sounds reasonable.",
)
_PROVIDER_LINES = (
    "Thank you for telling me about that.",
    "What was that like for you?",
    "It sounds as if there is a lot going on.",
    "I am glad that you wrote to me.",
    "Who do you usually talk to about your day?",
    "Would you like to say more about it?",
    "Taking a walk after work can be pleasant.",
    "We can look at this step by step.",
)
_ENDING_SHARE = 0.15


def role_of(path: str, body: Mapping[str, Any]) -> str:
    """Whom a request asks: by a folder of its path, else by the judge's schema, else by the model's name."""
    for role in ROLES:
        if f"/{role}/" in path:
            return role
    response_format = body.get("response_format")
    if isinstance(response_format, dict) and (response_format.get("json_schema") or {}).get("name") == "QuestionResponse":
        return "judge"
    model = str(body.get("model", ""))
    return next((role for word, role in _MODEL_ROLES.items() if word in model), "provider")


def heard(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Who said what, however a client wraps it: a text or a list of parts, other keys or none."""
    return [{"role": message.get("role"), "content": _text(message.get("content"))} for message in messages]


def _text(content: Any) -> str:
    return "".join(part.get("text") or "" for part in content) if isinstance(content, list) else content or ""


def digest_of(seed: int, messages: Any) -> bytes:
    """A hash of the messages under a seed; every choice is read off its bytes."""
    return hashlib.blake2b(orjson.dumps(messages), digest_size=16, key=seed.to_bytes(8, "big")).digest()


def share(digest: bytes, salt: str) -> float:
    """A number in [0, 1) that is fixed by a digest and a purpose."""
    return int.from_bytes(hashlib.blake2b(salt.encode(), digest_size=8, key=digest).digest(), "big") / 2**64


def turn_of(messages: list[dict[str, Any]]) -> int:
    """How many assistant messages a request holds: the number of turns that this side has had."""
    return sum(message.get("role") == "assistant" for message in messages)


def completion(role: str, body: Mapping[str, Any], seed: int, digest: bytes) -> dict[str, Any]:
    """Build the chat completion that answers a request."""
    messages = body["messages"]
    if role == "judge":
        message, finish_reason = {"content": _judgement(messages, digest)}, "stop"
    elif role == "persona":
        message, finish_reason = {"content": _persona(messages, seed, digest)}, "stop"
    else:
        message, finish_reason = _provider(messages, digest)
    prompt = sum(len(text) for entry in messages if isinstance(text := entry.get("content"), str)) // 4
    said = sum(map(len, message.values())) // 4
    return {
        "id": f"chatcmpl-{digest.hex()}",
        "object": "chat.completion",
        "created": CREATED,
        "model": f"{body.get('model', 'unnamed')}-served",
        "service_tier": "default",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": finish_reason},
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": said,
            "total_tokens": prompt + said,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


def options_of(prompt: str) -> list[str]:
    """The options that a judge's question offers."""
    _, found, rest = prompt.rpartition("options: [")
    listed = rest.partition("\n")[0].rpartition("]")[0]
    return listed.split(", ") if found and listed else []


def _judgement(messages: list[dict[str, Any]], digest: bytes) -> str:
    options = options_of(str(messages[-1].get("content"))) or ["Yes", "No"]
    answer = options[digest[0] % len(options)]
    return orjson.dumps({"answer": answer, "reasoning": f"Chosen by the test endpoint ({digest[:3].hex()})."}).decode()


def _persona(messages: list[dict[str, Any]], seed: int, digest: bytes) -> str:
    turn = turn_of(messages) + 1
    line = f"{_PERSONA_LINES[digest[0] % len(_PERSONA_LINES)]} ({turn})"
    # Whether and when it ends hangs on the persona alone, so that it is the same however the conversation went.
    character = digest_of(seed, messages[0])
    ends = share(character, "ends") < _ENDING_SHARE and turn >= 3 + character[1] % 8
    return f"{line} {END_SIGNAL}" if ends else line


def _provider(messages: list[dict[str, Any]], digest: bytes) -> tuple[dict[str, str], str]:
    line = f"{_PROVIDER_LINES[digest[0] % len(_PROVIDER_LINES)]} ({turn_of(messages) + 1})"
    chance = share(digest, "shape")
    if chance < 0.02:
        return {"content": ""}, "stop"
    if chance < 0.03:
        return {"reasoning_content": "I thought about this for as long as I could."}, "length"
    if chance < 0.06:
        return {"content": line[:-6]}, "length"
    if chance < 0.26:
        return {"content": f"{line}\n\n- {_PROVIDER_LINES[digest[1] % len(_PROVIDER_LINES)]}\n- Take your time."}, "stop"
    return {"content": line}, "stop"
