# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Which models take part and where they are asked: what a user wants to see before a conversation is sent anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from gym_host.config.configuration import Instance
from gym_host.config.interpolation import MISSING
from gym_host.config.masking import mask_text
from gym_host.wording import printable

MODELS = "responses_api_models"


def models_asked(instances: Iterable[Instance]) -> dict[str, str]:
    """Name of every model server -> `model @ host/path`, without what is secret of the address."""
    return {instance.name: _asked(instance) for instance in instances if instance.type == MODELS}


def models_shown(instances: Iterable[Instance]) -> list[str]:
    """The same as lines."""
    return [f"  {name}: {asked}" for name, asked in models_asked(instances).items()]


def _asked(instance: Instance) -> str:
    model, url = (str(instance.settings.get(key) or "") for key in ("model", "base_url"))
    place = _place(url) if url else instance.folder
    return f"{_shown(model)} @ {_shown(place)}"


def _place(url: str) -> str:
    if url == MISSING:
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return parts.netloc.rpartition("@")[2] + parts.path.rstrip("/") or url


def _shown(text: str) -> str:
    return "(not set)" if text in ("", MISSING) else printable(mask_text(text), longest=80)
