# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The same run under NVIDIA's host and under ours, against an endpoint that says the same things to both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.components import gym_process
from tests.support.endpoint import Fault, endpoint_process
from tests.support.nemo_gym import PROJECT


class Models:
    """An endpoint that plays judge, simulators and chatbot, and how either host is pointed at it.

    Attributes:
        environ: The pack, the models and their keys. Each key stands in the configuration as an interpolation within another, of
            which only the inner one is set here.
        policy: The words for the chatbot, the type of its model server aside.
        policy_overrides: The same for a command that has no flags for it.
    """

    def __init__(self, url: str, pack: Path) -> None:
        base = url.removesuffix("/v1")
        roles = {"JUDGE": "judge", "USER_GPT52": "persona", "USER_OPUS45": "persona"}
        self.environ = {"VERA_MH_PACK": str(pack)}
        self.environ |= {f"VERA_MH_{name}_BASE_URL": f"{base}/{role}/v1" for name, role in roles.items()}
        self.environ |= {f"VERA_MH_{name}_API_KEY": "unused" for name in roles}
        named = {"model": "chatbot", "model-url": f"{base}/provider/v1", "model-api-key": "unused"}
        self.policy = tuple(word for flag, text in named.items() for word in (f"--{flag}", text))
        keys = ("policy_model_name", "policy_base_url", "policy_api_key")
        self.policy_overrides = tuple(f"+{key}={text}" for key, text in zip(keys, named.values(), strict=True))


@contextmanager
def models(pack: Path, *faults: Fault) -> Iterator[Models]:
    with endpoint_process(seed=11, faults=faults) as url:
        yield Models(url, pack)


def under_ours(*words: str | Path, output: Path, environ: Mapping[str, str] | None = None, status: int = 0) -> str:
    """Runs our command; what it printed.

    Raises:
        AssertionError: It did not end with that status.
    """
    process = gym_process(*words, "--output", output, cwd=PROJECT, environ=environ)
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == status, errors
    return printed
