# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A server that has nothing to do with VERA-MH: the agent and the verifier of the benchmark `sums`, in one program.

What happens to a row stands in the row: `calls` lists what its first, second, ... call comes to, the last word holding for all
later calls. A row with `waits` is not answered before the file of that name lies beside the log. Every call is logged, so that
a test knows across processes which rollout was run how often.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

from fastapi import FastAPI, HTTPException, Response

from gym_host.config.settings import ServerRef, ServerSettings
from gym_host.serving.process import serve
from gym_host.serving.server import JsonBytes, ServerContext, base_app

Json = dict[str, Any]


class Settings(ServerSettings):
    """Settings of both servers."""

    NOT_IDENTITY: ClassVar[frozenset[str]] = ServerSettings.NOT_IDENTITY | {"num_concurrent_requests"}

    log: Path
    resources_server: ServerRef | None = None
    bonus: float = 0.0
    num_concurrent_requests: int = 8
    api_key: str = ""
    base_url: str | None = None
    model: str | None = None
    greeting: str = "hello"
    reverify_mode: str = "stateless"


FAILURE: Json = {"_ng_failure_class": "sum_failed", "error": "it does not add up", "reward": 0.0, "mask_sample": True}
TALK: Json = {"response": {"output": [{"role": "user", "content": "1 + 1"}]}, "conversation": [{"turn": 1}]}

ADDED: dict[str, Json] = {
    "failed": FAILURE,
    "terminal": {**FAILURE, "_ng_failure_terminal": True},
    "judge_failed": {**FAILURE, **TALK, "_ng_failure_class": "judge_failed", "failure_stage": "judge_question_3"},
    "brackets": {**FAILURE, "error": "unexpected [/INST] in [bold]the prompt[/] :warning:"},
    "no_reward": {"text": "a sum"},
    "null_reward": {"reward": None},
    "true_reward": {"reward": True},
    "other_keys": {"reward": 1.0, "_ng_task_index": 0, "_ng_rollout_index": 99},
}
"""What a word of `calls` adds to the row."""

ANSWERED: dict[str, tuple[str, str]] = {
    "garbage": ("text/html", "<html>hello</html>"),
    "list": ("application/json", "[1, 2]"),
    "bare_failure": ("application/json", '{"_ng_failure_class": "sum_failed", "error": "it does not add up"}'),
}
"""What a word of `calls` answers without the row."""


def answer(word: str, row: Json, bonus: float) -> Response:
    """What a call comes to."""
    if word == "status":
        raise HTTPException(500, "out of order")
    if word == "unreadable":
        raise HTTPException(422, "this is no sum")
    if word == "crash":
        raise ZeroDivisionError("nothing to divide by")
    if word in ANSWERED:
        media_type, content = ANSWERED[word]
        return Response(content, media_type=media_type)
    scored = {"reward": row.get("number", 0) + bonus, "response": {"output": []}}
    return JsonBytes(row | (scored if word == "scored" else ADDED[word]))


def create_app(settings: Settings, context: ServerContext) -> FastAPI:
    """Builds the server."""
    app = base_app(context, about={"greeting": settings.greeting})

    async def handle(kind: str, row: Json) -> Response:
        entry = f"{row['_ng_task_index']} {row['_ng_rollout_index']}"
        before = [line for line in _lines(settings.log) if line.endswith(f" {entry}")]
        with settings.log.open("a") as log:
            log.write(f"{kind} {entry}\n")
        while "waits" in row and not settings.log.with_name(row["waits"]).exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.005)
        words = row.get("calls") or ["scored"]
        return answer(words[min(len(before), len(words) - 1)], row, settings.bonus)

    @app.post("/run")
    async def run(row: dict[str, Any]) -> Response:
        return await handle("run", row)

    @app.post("/verify")
    async def verify(row: dict[str, Any]) -> Response:
        return await handle("verify", row)

    @app.get("/reverify_mode")
    async def reverify_mode() -> str:
        return settings.reverify_mode

    @app.get("/aggregate_metrics")
    async def fields() -> Json:
        return {"fields": ["reward", "id", "rater"], "uniform": ["rater"]}

    @app.post("/aggregate_metrics")
    async def aggregate_metrics(body: dict[str, Any]) -> Json:
        rewards = [row["reward"] for row in body["verify_responses"]]
        metrics = {"mean/reward": sum(rewards) / len(rewards) if rewards else None, "count": len(rewards)}
        return {"agent_metrics": metrics, "key_metrics": metrics, "group_level_metrics": []}

    return app


def _lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


if __name__ == "__main__":
    serve(Settings, create_app)
