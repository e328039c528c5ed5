# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The demo's pack, rows and servers, in the process of a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI

from gym_host.config.settings import parse_settings
from gym_host.serving.calls import InMemoryCalls
from gym_host.serving.server import ServerContext
from resources_servers.vera_mh import app as verifier_app
from responses_api_agents.vera_mh_agent import app as agent_app
from responses_api_models.scripted_model import app as scripted_app
from vera_mh.models import Json
from vera_mh.pack import Pack, load_manifest, read_pack
from vera_mh.tasks import UserSimulator, benchmark_rows

DEMO = Path(__file__).parents[2] / "benchmarks" / "vera_mh_demo"
PACK_FOLDER = DEMO / "pack"
SIMULATOR = "scripted"


def demo_pack() -> Pack:
    return read_pack(load_manifest(PACK_FOLDER), PACK_FOLDER)


def demo_rows() -> dict[str, Json]:
    """The rows of the demo by the name of their persona, as a host dispatches them."""
    rows = benchmark_rows(demo_pack(), prefix="vera_mh_demo", simulators=(UserSimulator(SIMULATOR, SIMULATOR),), max_turns=12)
    dispatched = {"_ng_rollout_index": 0, "agent_ref": {"name": "agent"}, "task_source": "demo"}
    return {row["persona_name"]: row | dispatched | {"_ng_task_index": index} for index, row in enumerate(rows)}


def demo_servers(*, judge_parse_retries: int | None = None, **models: FastAPI) -> InMemoryCalls:
    """The verifier and the agent with three models: `judge`, `user` and `policy`, by default the demo's scripts."""
    more: Json = {} if judge_parse_retries is None else {"judge_parse_retries": judge_parse_retries}
    calls = InMemoryCalls()
    scripts = {"judge": "judge", "user": "persona", "policy": "careless"}
    calls.apps |= {name: scripted_model(name, script) for name, script in scripts.items()} | models
    calls.apps["verifier"] = demo_verifier(calls, **more)
    calls.apps["agent"] = demo_agent(calls)
    return calls


def demo_verifier(calls: InMemoryCalls, pack: Path = PACK_FOLDER, **more: Any) -> FastAPI:
    settings = {"pack": str(pack), "judge_model_server": model_ref("judge"), **more}
    return verifier_app.create_app(
        parse_settings(verifier_app.Settings, settings, where="verifier"), ServerContext("verifier", calls)
    )


def demo_agent(calls: InMemoryCalls, pack: Path = PACK_FOLDER) -> FastAPI:
    settings = {
        "pack": str(pack),
        "resources_server": {"type": "resources_servers", "name": "verifier"},
        "model_server": model_ref("policy"),
        "user_simulators": {SIMULATOR: {"model_server": model_ref("user"), "responses_create_params": {"max_output_tokens": 64}}},
    }
    return agent_app.create_app(parse_settings(agent_app.Settings, settings, where="agent"), ServerContext("agent", calls))


def scripted_model(name: str, script: str) -> FastAPI:
    settings = scripted_app.Settings(model=f"{script}-served", script=DEMO / "scripts" / f"{script}.yaml")
    return scripted_app.create_app(settings, ServerContext(name, InMemoryCalls()))


def model_ref(name: str) -> Json:
    return {"type": "responses_api_models", "name": name}
