# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What the shipped source never does: run text as code, read pickles, load YAML unsafely, or hand text to a shell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
SHIPPED = ("vera_mh", "gym_host", "resources_servers", "responses_api_agents", "responses_api_models", "benchmarks", "examples")

FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "jsonpickle", "code", "codeop"}
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "builtins.eval", "builtins.exec"),
    *("os.system", "os.popen", "commands.getoutput", "subprocess.getoutput", "subprocess.getstatusoutput"),
    *("yaml.load", "yaml.load_all", "yaml.unsafe_load", "yaml.unsafe_load_all", "yaml.full_load", "yaml.full_load_all"),
    *("numpy.load", "np.load", "torch.load", "pandas.read_pickle", "pd.read_pickle"),
    *("asyncio.create_subprocess_shell", "tempfile.mktemp", "xml.etree.ElementTree.parse"),
}


def sources() -> list[Path]:
    found = [path for folder in SHIPPED for path in sorted((PROJECT / folder).rglob("*.py")) if "tests" not in path.parts]
    assert len(found) > 80
    return found


def faults(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        yield from (f"imports {name}" for name in _imported(node) if name.partition(".")[0] in FORBIDDEN_MODULES)
        if isinstance(node, ast.ImportFrom):
            dotted = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from (f"line {node.lineno}: imports {name}" for name in dotted & FORBIDDEN_CALLS)
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in FORBIDDEN_CALLS:
                yield f"line {node.lineno}: calls {called}"
            if any(keyword.arg == "shell" for keyword in node.keywords):
                yield f"line {node.lineno}: hands text to a shell"
            if any(keyword.arg == "allow_pickle" for keyword in node.keywords):
                yield f"line {node.lineno}: reads pickles"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PROJECT)))
def test_no_text_is_run_as_code(path: Path):
    assert list(faults(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from pickle import loads",
        "import pickle.x as y",
        "eval('1')",
        "exec(text)",
        "import os\nos.system('ls')",
        "from os import system",
        "import yaml\nyaml.load(text)",
        "from yaml import unsafe_load",
        "import subprocess\nsubprocess.run('ls', shell=True)",
        "numpy.load(path, allow_pickle=True)",
    ],
)
def test_the_search_finds_what_it_looks_for(source: str):
    assert list(faults(source))


def test_the_search_lets_pass_what_is_harmless():
    assert (
        list(faults("import yaml, re\nyaml.safe_load(t)\nre.compile(t)\nmodel.eval()\nsubprocess.run(['ls'], check=False)")) == []
    )
