# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Runs inside a process of upstream's: `EXE driver.py CONTROL SCRATCH`, started in the folder of upstream's checkout.

It imports upstream's modules and nothing of this project. The first line on stdout says that it is ready, or what is missing;
then each line on stdin is a request, and each is answered by one line. What upstream prints goes to stderr.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Json = dict[str, Any]
Answer = Callable[[Json], Json]

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


class OutOfReplies(Exception):
    """Upstream's simulator goes on where the stored conversation ends."""


class Stranger(Exception):
    """Upstream's judge asks something that the run's judge was not asked."""


def materialization(scratch: Path) -> Answer:
    """Upstream's simulator, both sides of which say what is stored."""
    simulator_of = import_module("generate_conversations.conversation_simulator").ConversationSimulator
    interface = import_module("llm_clients.llm_interface")
    side = _stored_side(interface, import_module("utils.conversation_utils").build_langchain_messages)
    load = import_module("judge.rubric_config").ConversationData.load
    prompts = import_module("generate_conversations.utils").load_prompts_from_csv()
    personas = {persona["Name"]: persona for persona in prompts}

    async def played(request: Json) -> Json:
        replies, seen = list(request["replies"]), list[list[Json]]()
        simulator = simulator_of(*(side(role, replies, seen) for role in (interface.Role.PERSONA, interface.Role.PROVIDER)))
        went_on = False
        try:
            await simulator.generate_conversation(request["max_turns"], persona_speaks_first=request["persona_first"])
        except OutOfReplies:
            went_on = True
        simulator.save_conversation("transcript.txt", str(scratch))
        read_back = await load(str(scratch / "transcript.txt"))
        persona = dict(personas.get(request["persona"]) or {})
        return {
            "prompt": persona.pop("prompt", None),
            "persona": persona,
            "turns": [turn.to_dict() | {"logging": None} for turn in simulator.conversation_history],
            "messages": seen,
            "transcript": read_back.content,
            "went_on": went_on,
        }

    return lambda request: asyncio.run(played(request))


def _stored_side(interface: Any, messages_of: Callable[..., Any]) -> Any:
    """A side of a conversation that says the next stored reply, and notes what it saw."""

    class StoredSide(interface.LLMInterface):  # type: ignore[misc]
        def __init__(self, role: Any, replies: list[str], seen: list[list[Json]]) -> None:
            super().__init__("stored", role)
            self.replies, self.seen = replies, seen

        def set_system_prompt(self, system_prompt: str) -> None:
            """It needs none."""

        async def start_conversation(self) -> str:
            opening = self.get_initial_prompt_turns()
            return await self.generate_response(opening)

        async def generate_response(self, conversation_history: Any = None) -> str:
            messages = messages_of(self.role, conversation_history)
            if not self.replies:
                raise OutOfReplies
            self.seen.append(
                [{"role": _ROLES.get(message.type, message.type), "content": message.content} for message in messages]
            )
            return self.replies.pop(0)

    return StoredSide


def replay(scratch: Path) -> Answer:
    """Upstream's judge, whose model answers from the receipts of the run."""
    judging: Any = import_module("judge.llm_judge")
    config = import_module("judge.rubric_config")
    model = _stored_judge(import_module("llm_clients.llm_interface"))
    rubric = asyncio.run(config.RubricConfig.load(rubric_folder="data"))

    async def judged(request: Json) -> Json:
        replies, asked = defaultdict[str, list[Json]](list), list[Json]()
        for reply in request["replies"]:
            replies[reply["prompt_sha256"]].append(reply)

        def created(*args: Any, system_prompt: str = "", **more: Any) -> Any:
            return model(system_prompt, replies, asked)

        judging.LLMFactory = SimpleNamespace(create_llm=created, create_judge_llm=created)
        judge = judging.LLMJudge(judge_model="stored", rubric_config=rubric, log_file=str(scratch / "judge.log"))
        conversation = config.ConversationData(request["transcript"], {"filename": "transcript.txt", "run_id": "replay"})
        try:
            results = await judge.evaluate_conversation_question_flow(conversation, str(scratch), auto_save=False)
        except Stranger as stranger:
            return {"asked": asked, "results": {}, "stranger": str(stranger)}
        return {"asked": asked, "results": results, "stranger": None}

    return lambda request: asyncio.run(judged(request))


def _stored_judge(interface: Any) -> Any:
    """A judge model that knows the stored replies by the prompts that they answer."""

    class StoredJudge(interface.JudgeLLM):  # type: ignore[misc]
        def __init__(self, system_prompt: str, replies: Mapping[str, list[Json]], asked: list[Json]) -> None:
            super().__init__("stored", interface.Role.JUDGE, system_prompt)
            self.replies, self.asked = replies, asked

        def set_system_prompt(self, system_prompt: str) -> None:
            self.system_prompt = system_prompt

        async def start_conversation(self) -> str:
            raise NotImplementedError

        async def generate_response(self, conversation_history: Any = None) -> str:
            raise NotImplementedError

        async def generate_structured_response(self, message: str, response_model: Any) -> Any:
            replies = self.replies.get(_sha256(f"{self.system_prompt}\n{message}"))
            if not replies:
                raise Stranger(message)
            reply = replies.pop(0)
            response, as_it_stood = _response(response_model, reply)
            asked = {"question_id": reply["question_id"], "answer": response.answer, "reasoning": response.reasoning}
            self.asked.append({**asked, "as_it_stood": as_it_stood})
            return response

    return StoredJudge


def _response(model: Any, reply: Json) -> tuple[Any, bool]:
    """The reply as upstream's response model reads it; else as this project read it, and False."""
    try:
        return model.model_validate_json(reply["content"]), True
    except ValueError:
        return model(answer=reply["answer"], reasoning=reply["reasoning"]), False


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def score(scratch: Path) -> Answer:
    """Upstream's scorer."""
    scorer = import_module("judge.score")

    def scored(request: Json) -> Json:
        sheet = scratch / "results.csv"
        sheet.write_text(request["results_csv"], "utf-8")
        return {
            "scores": scorer.score_results(str(sheet)),
            "by_risk": scorer.score_results_by_risk(str(sheet), "data/personas.tsv"),
        }

    return scored


CONTROLS: dict[str, Callable[[Path], Answer]] = {"materialization": materialization, "replay": replay, "score": score}


def serve(control: str, scratch: Path) -> int:
    """Answers requests until there are no more."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(value: Json) -> None:
        out.write(json.dumps(value) + "\n")
        out.flush()

    try:
        answer = CONTROLS[control](scratch)
    except Exception as error:  # whatever it is, it is the checkout's or the interpreter's
        say({"fatal": f"{type(error).__name__}: {error}"})
        return 1
    say({"ready": True, "python": sys.version.split()[0]})
    for line in sys.stdin:
        try:
            say({"answer": answer(json.loads(line))})
        except Exception as error:  # upstream's refusal of one conversation is an answer, and a disagreement
            say({"error": f"{type(error).__name__}: {error}"})
    return 0


if __name__ == "__main__":
    # Upstream's modules are found in its checkout, which is the working directory, and nothing beside this file is.
    sys.path[0] = str(Path.cwd())
    sys.exit(serve(sys.argv[1], Path(sys.argv[2])))
