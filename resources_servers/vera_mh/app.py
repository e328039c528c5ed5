# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The verifier: judges a finished conversation against the rubric of its pack.

`POST /verify` takes a row with `response` (or `conversation`) and gives it back with the verdict. It keeps no state, so that a
stored conversation can be judged again at any time (`GET /reverify_mode` answers `stateless`).
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from fastapi import Depends, FastAPI
from pydantic import BaseModel, ConfigDict, Field

from gym_host.config.settings import ServerRef, ServerSettings
from gym_host.errors import ServerError
from gym_host.serving.calls import Cookies, ServerCalls
from gym_host.serving.process import serve
from gym_host.serving.server import JsonBytes, ServerContext, base_app, described_body, row_of, unprocessable
from vera_mh.analysis.comparison import compare
from vera_mh.checks.findings import Finding
from vera_mh.checks.pack_check import check_judging, check_named
from vera_mh.errors import JudgeFailed, ModelError, RowError
from vera_mh.judge import Judge, JudgeSheet
from vera_mh.metrics import COMPARED_FIELDS, ROW_FIELDS, SHOWN_METRICS, UNIFORM_FIELDS, aggregate
from vera_mh.models import Json
from vera_mh.pack import VERA_MH, open_pack
from vera_mh.rollout import conversation_fields, judge_failure_fields, turns_of_row, unjudged, verdict_fields
from vera_mh.speculation import SpeculationPlanner
from vera_mh.views.comparison_tables import shown_comparison
from vera_mh.views.summary import summarize

ROOT = Path(__file__).parents[2]


class Settings(ServerSettings):
    """Settings of the verifier."""

    NOT_IDENTITY: ClassVar[frozenset[str]] = ServerSettings.NOT_IDENTITY | {"judge_max_parallel_questions", "judge_speculation"}

    pack: str = Field(VERA_MH.name, description="`vera_mh_v1.2`, or a folder with a `manifest.yaml`")
    judge_model_server: ServerRef
    judge_parse_retries: int = Field(8, ge=0, description="how often an unusable reply is asked for again, for each question")
    judge_request: dict[str, Any] = Field(
        default_factory=lambda: {"reasoning_effort": "low"},
        description="parameters of every judge request, such as `reasoning_effort` or `temperature`",
    )
    judge_speculation: bool = Field(False, description="ask questions ahead: same verdict in fewer rounds, a few more calls")
    judge_max_parallel_questions: int = Field(32, ge=1, description="questions of one conversation in flight at the most")


class VerifyRequest(BaseModel):
    """A row with a finished conversation. All other keys of the row are carried through."""

    model_config = ConfigDict(extra="allow")

    response: dict[str, Any] | None = None
    conversation: list[dict[str, Any]] | None = None


class AggregateRequest(BaseModel):
    """Scored rows, whole or reduced to the fields that `GET /aggregate_metrics` names."""

    verify_responses: list[dict[str, Any]]


class SummaryRequest(BaseModel):
    """Metrics as `/aggregate_metrics` returns them."""

    agent_metrics: dict[str, Any]


class CompareRequest(BaseModel):
    """Scored rows of two runs, whole or reduced to the fields that `GET /aggregate_metrics` names."""

    base: list[dict[str, Any]]
    other: list[dict[str, Any]]


class JudgeServer:
    """Asks the judge's model server, for one conversation: its cookies are those of that judging alone."""

    def __init__(self, servers: ServerCalls, name: str) -> None:
        self._servers, self._name = servers, name
        self._cookies: Cookies = {}

    async def complete(self, body: Json) -> Json:
        try:
            completion = await self._servers.call(self._name, "/v1/chat/completions", body, cookies=self._cookies)
        except ServerError as error:
            raise ModelError(f"{self._name}: {error.message}", status=error.status) from error
        if not isinstance(completion, dict):
            raise ModelError(f"{self._name}: the answer is no JSON object")
        return completion


def validate(settings: Settings) -> list[Finding]:
    """What is wrong with the pack, as far as the judge works with it."""
    return check_named(settings.pack, check_judging, environ=os.environ, bases=(Path.cwd(), ROOT))


def create_app(settings: Settings, context: ServerContext) -> FastAPI:
    """Builds the verifier.

    Raises:
        PackError: A file of the pack is missing or differs.
        RubricError: The rubric of the pack cannot be read.
    """
    pack = open_pack(settings.pack, environ=os.environ, bases=(Path.cwd(), ROOT))
    sheet = JudgeSheet.from_pack(pack)
    judge = partial(
        Judge,
        sheet,
        parse_retries=settings.judge_parse_retries,
        request=settings.judge_request,
        planner=SpeculationPlanner(sheet.rubric) if settings.judge_speculation else None,
        max_parallel_questions=settings.judge_max_parallel_questions,
    )
    app = base_app(context, about=pack.about())
    app.add_exception_handler(RowError, unprocessable)

    @app.post("/verify", openapi_extra=described_body(VerifyRequest))
    async def verify(row: Annotated[Json, Depends(row_of(VerifyRequest))]) -> JsonBytes:
        """Judges a conversation. A judge that fails gives a row with `_ng_failure_class`, never a rating."""
        row = unjudged(row)
        row |= conversation_fields(turns_of_row(row), row)
        try:
            model = JudgeServer(context.servers, settings.judge_model_server.name)
            verdict = await judge(model=model).judge(row["transcript"])
        except JudgeFailed as failure:
            return JsonBytes(row | judge_failure_fields(failure, row))
        return JsonBytes(row | verdict_fields(verdict, pack))

    @app.post("/aggregate_metrics")
    async def aggregate_metrics(body: AggregateRequest) -> JsonBytes:
        """Metrics over scored rows."""
        return JsonBytes(aggregate(body.verify_responses))

    @app.get("/aggregate_metrics")
    async def aggregate_metrics_fields() -> Json:
        """What the metrics and a comparison read of a row, what must be the same in rows counted together, and what to watch."""
        return {
            "fields": list(ROW_FIELDS),
            "uniform": list(UNIFORM_FIELDS),
            "compared": list(COMPARED_FIELDS),
            "shown": list(SHOWN_METRICS),
        }

    @app.post("/compare")
    async def compare_runs(body: CompareRequest) -> JsonBytes:
        """Two runs over the same rows, conversation by conversation."""
        return JsonBytes(shown_comparison(compare(body.base, body.other)))

    @app.post("/summary")
    async def summary(body: SummaryRequest) -> JsonBytes:
        """Metrics as a person reads them."""
        return JsonBytes(summarize(body.agent_metrics))

    @app.post("/seed_session")
    async def seed_session() -> Json:
        """Nothing to prepare: the verifier keeps no state."""
        return {}

    @app.get("/reverify_mode")
    async def reverify_mode() -> Literal["stateless"]:
        """A stored conversation can be judged again."""
        return "stateless"

    return app


if __name__ == "__main__":
    serve(Settings, create_app)
