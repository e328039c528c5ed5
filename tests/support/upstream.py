# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a checkout of upstream: the modules that a calibration imports, a few lines each, over our own library.

It has the names of upstream's modules, classes and functions and nothing of their code. By itself it agrees with us; a test
makes it disagree by changing a file of it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.support.demo import PACK_FOLDER

FILES = {
    "llm_clients/__init__.py": "",
    "llm_clients/llm_interface.py": """
from enum import Enum
from vera_mh.turns import START_PROMPT

class Role(Enum):
    PERSONA = "persona"
    PROVIDER = "provider"
    JUDGE = "judge"

class LLMInterface:
    def __init__(self, name, role, system_prompt=None):
        self.name, self.role, self.system_prompt = name, role, system_prompt

    def get_initial_prompt_turns(self):
        return [{"turn": 0, "response": START_PROMPT}]

class JudgeLLM(LLMInterface):
    pass
""",
    "utils/__init__.py": "",
    "utils/conversation_utils.py": """
from pathlib import Path
from types import SimpleNamespace
from vera_mh.simulation import messages_for
from vera_mh.turns import conversation_from_json

TYPES = {"user": "human", "assistant": "ai"}

def build_langchain_messages(role, history):
    if history[0]["turn"] == 0:
        return [SimpleNamespace(type="human", content=history[0]["response"])]
    reminder = Path("data/persona_prompt_reminder.txt").read_text()
    messages = messages_for(role.value, conversation_from_json(history), reminder=reminder)
    return [SimpleNamespace(type=TYPES[message["role"]], content=message["content"]) for message in messages]
""",
    "generate_conversations/__init__.py": "",
    "generate_conversations/utils.py": """
from pathlib import Path
from vera_mh.persona import read_personas

def load_prompts_from_csv():
    texts = (Path("data", name).read_text() for name in ("personas.tsv", "persona_prompt_template.txt"))
    return [dict(persona.cells) | {"prompt": persona.system_prompt} for persona in read_personas(*texts)]
""",
    "generate_conversations/conversation_simulator.py": """
from pathlib import Path
from vera_mh.simulation import effective_max_turns
from vera_mh.turns import START_PROMPT, Turn, ends_conversation
from vera_mh.transcript import render_transcript

class Recorded:
    def __init__(self, turn):
        self.turn = turn

    def to_dict(self):
        return self.turn.to_json()

class ConversationSimulator:
    def __init__(self, persona, agent):
        self.sides, self.conversation_history = (persona, agent), []

    async def generate_conversation(self, max_turns, persona_speaks_first=True):
        said = START_PROMPT
        for number in range(1, effective_max_turns(max_turns) + 1):
            side = self.sides[(number + 1) % 2]
            history = [recorded.to_dict() for recorded in self.conversation_history]
            reply = await (side.generate_response(history) if history else side.start_conversation())
            ended = ends_conversation(side.role.value, reply)
            self.conversation_history.append(Recorded(Turn(number, side.role.value, said, reply, ended)))
            said = reply
            if ended:
                break

    def save_conversation(self, filename, folder):
        Path(folder, filename).write_text(render_transcript(recorded.turn for recorded in self.conversation_history))
""",
    "judge/__init__.py": "",
    "judge/rubric_config.py": """
from pathlib import Path
from types import SimpleNamespace
from vera_mh.judge import JudgeSheet
from vera_mh.rubric import parse_rubric

class RubricConfig:
    @staticmethod
    async def load(rubric_folder):
        names = ("rubric.tsv", "rubric_prompt_beginning.txt", "question_prompt.txt")
        rubric, system, question = (Path(rubric_folder, name).read_text() for name in names)
        return JudgeSheet(parse_rubric(rubric), system, question)

class ConversationData:
    def __init__(self, content, metadata):
        self.content, self.metadata = content, metadata

    @classmethod
    async def load(cls, path):
        return cls(Path(path).read_text(), {})
""",
    "judge/llm_judge.py": """
from pydantic import BaseModel
from llm_clients.llm_interface import JudgeLLM
from vera_mh.judge import Judge

LLMFactory = None

class QuestionResponse(BaseModel):
    answer: str
    reasoning: str

class Asking:
    def __init__(self, model):
        self.model = model

    async def complete(self, body):
        response = await self.model.generate_structured_response(body["messages"][1]["content"], QuestionResponse)
        return {"choices": [{"message": {"content": response.model_dump_json()}}]}

class LLMJudge:
    def __init__(self, judge_model, rubric_config, log_file):
        self.judge_model, self.sheet = judge_model, rubric_config
        print("this judge prints on stdout")

    async def evaluate_conversation_question_flow(self, conversation, output_folder, auto_save):
        system = self.sheet.system_prompt(conversation.content)
        model = LLMFactory.create_llm(model_name=self.judge_model, name="judge", role=None, system_prompt=system)
        assert isinstance(model, JudgeLLM)
        verdict = await Judge(self.sheet, Asking(model)).judge(conversation.content)
        return {
            name: {
                "score": rated.rating,
                "reasoning": rated.reasoning,
                "yes_question_id": rated.yes_question_id,
                "yes_reasoning": rated.yes_reasoning,
            }
            for name, rated in verdict.ratings.items()
            if rated.rating
        }
""",
    "judge/score.py": """
import csv
from pathlib import Path
from vera_mh.calibration.scores import by_risk
from vera_mh.persona import read_personas
from vera_mh.exchange.upstream_scores import upstream_scores

def rows_of(results):
    lines = list(csv.DictReader(Path(results).open()))
    dimensions = [head.removesuffix("_yes_question_id") for head in lines[0] if head.endswith("_yes_question_id")]
    return dimensions, [
        {"persona": line["filename"].split("_")[1], "ratings": {name: line[name] for name in dimensions}} for line in lines
    ]

def score_results(results):
    dimensions, rows = rows_of(results)
    return upstream_scores(rows, dimensions)

def score_results_by_risk(results, personas):
    template = Path("data/persona_prompt_template.txt").read_text()
    levels = {persona.name: persona.risk_level for persona in read_personas(Path(personas).read_text(), template)}
    return {"risk_level_scores": by_risk([row | {"risk_level": levels[row["persona"]]} for row in rows_of(results)[1]])}
""",
    "judge.py": """
import argparse
import os
import sys
from pathlib import Path

parser = argparse.ArgumentParser()
for flag in ("-f", "-j", "-o", "-m", "-jep"):
    parser.add_argument(flag)
args = parser.parse_args()
if "gpt" not in args.j:
    sys.exit(f"Unsupported model: {args.j}")
assert os.environ["OPENAI_API_KEY"] == "a-secret" and "a-secret" not in sys.argv
assert os.environ["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
folder = Path(args.o, "j_run")
folder.mkdir()
for path in sorted(Path(args.f).glob("*.txt"))[1:]:
    sheet = f"Dimension\\tScore\\tReasoning\\nDetects Potential Risk\\tNot Relevant\\t{args.jep} \\"\\n"
    (folder / f"{path.stem}_{args.j}_i1.tsv").write_text(sheet)
""",
}


def stand_in(folder: Path) -> Path:
    """Writes the stand-in with the demo's pack as its data."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "data").mkdir()
    for path in PACK_FOLDER.iterdir():
        (folder / "data" / path.name).write_bytes(path.read_bytes())
    return folder


def commit(folder: Path) -> str:
    """Makes a git checkout of a folder, and returns its commit."""
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)
    return subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
