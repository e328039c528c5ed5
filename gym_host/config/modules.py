# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Python files of components as modules."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from gym_host.errors import ConfigError


def import_file(path: Path, name: str) -> ModuleType:
    """Runs a Python file as the module of this name, anew; one that fails leaves the module as it was before.

    Raises:
        ConfigError: It is no Python file, or cannot be imported.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path} is no Python file")
    module, before = importlib.util.module_from_spec(spec), sys.modules.get(name)
    sys.modules[name] = module  # Dataclasses look their module up by name.
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        # Most often a package that is not installed; of some errors the name alone says what is wrong.
        why = str(error) or type(error).__name__
        raise ConfigError(f"{path} cannot be imported: {why}", mend="install what it needs, or mend it") from error
    return module
