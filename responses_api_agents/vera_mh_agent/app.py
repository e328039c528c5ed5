# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The agent: lets a user simulator and the chatbot under evaluation talk, and has the verifier judge what came of it.

`POST /run` takes a row and gives it back with the conversation and the verdict; a side that fails gives a row with
`_ng_failure_class`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field, field_validator

from gym_host.config.settings import ServerRef, ServerSettings
from gym_host.errors import ServerError
from gym_host.serving.calls import Cookies, ServerCalls
from gym_host.serving.process import serve
from gym_host.serving.server import JsonBytes, ServerContext, base_app
from vera_mh.checks.findings import Finding
from vera_mh.checks.pack_check import check_named, check_playing
from vera_mh.errors import SETUP, ModelError, RowError, SimulationFailed
from vera_mh.models import Json
from vera_mh.origin import PackRows
from vera_mh.pack import PERSONA_REMINDER, VERA_MH, Pack, open_pack
from vera_mh.responses import checked_response, output_text, textless
from vera_mh.rollout import SimulationSetup, simulated_fields, simulation_failure_fields, verifier_failure_fields
from vera_mh.simulation import Side, simulate
from vera_mh.tasks import DEFAULT_SYSTEM_PROMPT

ROOT = Path(__file__).parents[2]


class SimulatorSettings(BaseModel):
    """A model that plays personas."""

    model_config = ConfigDict(extra="forbid")

    model_server: ServerRef
    responses_create_params: dict[str, Any] = Field(
        default_factory=dict, description="sampling parameters of its requests; upstream sends none"
    )


class Settings(ServerSettings):
    """Settings of the agent."""

    pack: str = Field(VERA_MH.name, description="`vera_mh_v1.2`, or a folder with a `manifest.yaml`")
    resources_server: ServerRef
    model_server: ServerRef = Field(description="the chatbot under evaluation")
    user_simulators: dict[str, SimulatorSettings]


class RunRequest(BaseModel):
    """A row of the benchmark. All other keys of the row are carried through."""

    model_config = ConfigDict(extra="allow")

    responses_create_params: dict[str, Any]
    persona_system_prompt: str
    user_simulator: str
    max_turns: int = Field(ge=1)

    @field_validator("responses_create_params")
    @classmethod
    def _of_which_the_chatbot_hears_everything(cls, params: dict[str, Any]) -> dict[str, Any]:
        try:
            check_input(params)
        except RowError as error:
            raise ValueError(str(error)) from None
        return params


class ModelServer:
    """Asks a model server, for one side of one conversation: its cookies are those of that side alone."""

    def __init__(self, servers: ServerCalls, name: str) -> None:
        self._servers, self._name = servers, name
        self._cookies: Cookies = {}

    async def respond(self, params: Json) -> Json:
        try:
            response = await self._servers.call(self._name, "/v1/responses", params, cookies=self._cookies)
        except ServerError as error:
            raise ModelError(error.message, status=error.status) from error
        return checked_response(response)


class VeraMHAgent:
    """Plays one row after another; holds nothing of any of them."""

    def __init__(self, settings: Settings, pack: Pack, servers: ServerCalls) -> None:
        self._settings, self._rows, self._servers = settings, PackRows(pack), servers
        self._reminder = pack.text(PERSONA_REMINDER)

    async def run(self, row: Json) -> Json:
        """Simulates the row's conversation and has it judged.

        Returns:
            The row with the verdict, or with `_ng_failure_class` if a side, the judge or the verifier failed. A conversation
            that is finished stays in the row, to be judged again; of one that is not, `response` holds the turns that there are.
        """
        try:
            row = row | await self._simulate(row)
        except SimulationFailed as failure:
            return row | simulation_failure_fields(failure, row)
        try:
            judged: Json = await self._servers.call(self._settings.resources_server.name, "/verify", row)
        except ServerError as error:
            return row | verifier_failure_fields(str(error), row)
        return judged

    async def _simulate(self, row: Json) -> Json:
        if difference := self._rows.difference(row):
            raise SimulationFailed(difference, stage=SETUP)
        simulator = self._settings.user_simulators.get(row["user_simulator"])
        if simulator is None:
            known = ", ".join(self._settings.user_simulators)
            raise SimulationFailed(f"no user simulator {row['user_simulator']!r} is configured; known are: {known}", stage=SETUP)
        params = row["responses_create_params"]
        system_prompt = provider_system_prompt(params)
        persona = Side(
            ModelServer(self._servers, simulator.model_server.name),
            simulator.model_server.name,
            row["persona_system_prompt"],
            simulator.responses_create_params,
        )
        provider_server = self._settings.model_server.name
        sampling = {key: value for key, value in params.items() if key != "input"}
        provider = Side(ModelServer(self._servers, provider_server), provider_server, system_prompt, sampling)
        started = time.perf_counter()
        exchanges = await simulate(persona, provider, max_turns=row["max_turns"], reminder=self._reminder)
        setup = SimulationSetup(row["user_simulator"], persona.server, provider_server, system_prompt, row["max_turns"])
        duration_ms = round((time.perf_counter() - started) * 1000, 3)
        return simulated_fields(exchanges, setup, params=params, duration_ms=duration_ms)


def provider_system_prompt(params: Mapping[str, Any]) -> str:
    """The chatbot's system prompt: the first system message of the row's `input`, else upstream's default."""
    items = params.get("input")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping) and item.get("role") in ("system", "developer"):
            return output_text([item])
    return DEFAULT_SYSTEM_PROMPT


def check_input(params: Mapping[str, Any]) -> None:
    """Refuses an `input` of which the chatbot would not hear everything: all that it hears is its system prompt and the talk.

    Raises:
        RowError: It is something else than one system message, or none.
    """
    if params.get("instructions") is not None:
        raise RowError(f"responses_create_params.instructions: would be a second system message; {_WHAT_INPUT_HOLDS}")
    items, place = params.get("input"), "responses_create_params.input"
    if items is None:
        return
    if not isinstance(items, list):
        raise RowError(f"{place}: is no list of messages; {_WHAT_INPUT_HOLDS}")
    for number, item in enumerate(items):
        if not isinstance(item, Mapping) or item.get("role") not in ("system", "developer"):
            raise RowError(f"{place}[{number}]: is no system message; {_WHAT_INPUT_HOLDS}")
        if number:
            raise RowError(f"{place}[{number}]: is a second system message; {_WHAT_INPUT_HOLDS}")
        if wrong := textless(item):
            raise RowError(f"{place}[{number}].{wrong}: is no text")


_WHAT_INPUT_HOLDS = "the chatbot is sent one system message, or upstream's default, and after it the conversation alone"


def validate(settings: Settings) -> list[Finding]:
    """What is wrong with the pack, as far as the user simulators work with it."""
    return check_named(settings.pack, check_playing, environ=os.environ, bases=(Path.cwd(), ROOT))


def create_app(settings: Settings, context: ServerContext) -> FastAPI:
    """Builds the agent.

    Raises:
        PackError: A file of the pack is missing or differs.
        RubricError: Its personas cannot be read.
    """
    pack = open_pack(settings.pack, environ=os.environ, bases=(Path.cwd(), ROOT))
    agent = VeraMHAgent(settings, pack, context.servers)
    app = base_app(context, about=pack.about())
    verifier = settings.resources_server.name

    @app.post("/run")
    async def run(body: RunRequest) -> JsonBytes:
        """Simulates and judges one row."""
        return JsonBytes(await agent.run(body.model_dump(exclude_unset=True)))

    @app.post("/v1/responses")
    async def responses(body: dict[str, Any]) -> JsonBytes:
        """One reply of the chatbot under evaluation, without a persona."""
        return JsonBytes(await context.servers.call(settings.model_server.name, "/v1/responses", body))

    @app.post("/aggregate_metrics")
    async def aggregate_metrics(body: dict[str, Any]) -> JsonBytes:
        """Metrics over scored rows, as the verifier counts them."""
        return JsonBytes(await context.servers.call(verifier, "/aggregate_metrics", body))

    @app.get("/aggregate_metrics")
    async def aggregate_metrics_fields() -> JsonBytes:
        """Which fields of a row the metrics read."""
        return JsonBytes(await context.servers.call(verifier, "/aggregate_metrics"))

    @app.post("/summary")
    async def summary(body: dict[str, Any]) -> JsonBytes:
        """Metrics as a person reads them, in the verifier's words."""
        return JsonBytes(await context.servers.call(verifier, "/summary", body))

    return app


if __name__ == "__main__":
    serve(Settings, create_app)
