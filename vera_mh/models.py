# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The two ways in which the benchmark asks a model, each an interface of one method.

Bodies are the plain JSON of the OpenAI API: Responses for the two sides of the conversation, chat completions for the judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Json = dict[str, Any]
Row = Mapping[str, Any]
"""A row of a run, scored or failed, as it is read."""


class ResponsesModel(Protocol):
    """A model that continues a conversation."""

    async def respond(self, params: Json) -> Json:
        """Asks for one response.

        Args:
            params: Body of a Responses request (`input` and sampling parameters).

        Returns:
            A Responses object.

        Raises:
            ModelError: The model could not be reached or answered with an error.
        """
        ...


class ChatModel(Protocol):
    """A model that answers one chat completion."""

    async def complete(self, body: Json) -> Json:
        """Asks for one chat completion.

        Args:
            body: Body of a chat completions request.

        Returns:
            A chat completion object.

        Raises:
            ModelError: The model could not be reached or answered with an error.
        """
        ...
