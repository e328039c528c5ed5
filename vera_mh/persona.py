# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Personas: the sheet of clinician-written users, and the system prompt that lets a model play one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vera_mh.errors import RubricError
from vera_mh.sheet import read_sheet
from vera_mh.transcript import sha256

NAME = "Name"
RISK_LEVEL = "Short Current Suicide Risk Level"
DISCLOSURE = "Disclosure of Suicide Risk"


@dataclass(frozen=True, slots=True)
class Persona:
    """One row of the persona sheet.

    Attributes:
        index: Row of the sheet, from 1 without the header.
        cells: Column -> cell, as published.
        system_prompt: The template filled with the cells.
    """

    index: int
    cells: Mapping[str, str]
    system_prompt: str

    @property
    def name(self) -> str:
        return self.cells[NAME]

    @property
    def risk_level(self) -> str:
        return self.cells[RISK_LEVEL]

    @property
    def disclosure_level(self) -> str:
        return self.cells[DISCLOSURE].split(" (", 1)[0]

    @property
    def digest(self) -> str:
        """SHA-256 of the row's cells joined by tabs, in sheet order."""
        return sha256("\t".join(self.cells.values()))


def read_personas(sheet_text: str, template: str) -> tuple[Persona, ...]:
    """Reads the persona sheet and fills the template for each.

    Raises:
        RubricError: A column is missing, the template names a column that the sheet lacks, or a name stands twice.
    """
    sheet = read_sheet(sheet_text, required=(NAME, RISK_LEVEL, DISCLOSURE), what="persona")
    personas = tuple(Persona(index, cells, fill(template, cells)) for index, cells in enumerate(sheet.rows, start=1))
    names = [persona.name for persona in personas]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise RubricError(f"the persona sheet has two personas of the name {doubled!r}")
    return personas


def fill(template: str, cells: Mapping[str, str]) -> str:
    """The template with the cells of a persona in it.

    Raises:
        RubricError: It names what is no column.
    """
    try:
        return template.format_map(cells)
    except KeyError as error:
        raise RubricError(f"the persona template cannot be filled: {error} is no column of the persona sheet") from None
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        raise RubricError(f"the persona template cannot be filled: {error}") from None
