# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Personas and the prompt that lets a model play one."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest

from vera_mh.errors import RubricError
from vera_mh.pack import PERSONA_TEMPLATE, PERSONAS
from vera_mh.persona import read_personas

HEADER = "Name\tAge\tDisclosure of Suicide Risk\tShort Current Suicide Risk Level"
SHEET = f"{HEADER}\nAna\t{{30}}\tOpen (says it (at once))\tLow\nBo\t40\tGuarded\tNone\n"


def test_a_persona_is_a_row_with_the_template_filled_by_column_name():
    ana, bo = read_personas(SHEET, "You are {Name}, {Age}: {Disclosure of Suicide Risk}.")
    assert (ana.index, ana.name, ana.risk_level, ana.disclosure_level) == (1, "Ana", "Low", "Open")
    assert ana.system_prompt == "You are Ana, {30}: Open (says it (at once))."
    assert (bo.index, bo.disclosure_level, bo.risk_level) == (2, "Guarded", "None")


def test_a_digest_is_that_of_the_cells_joined_by_tabs():
    ana = read_personas(SHEET, "")[0]
    assert ana.digest == hashlib.sha256(b"Ana\t{30}\tOpen (says it (at once))\tLow").hexdigest()


@pytest.mark.parametrize("template", ["{Shoe size}", "{", "{0}"])
def test_a_template_that_the_sheet_cannot_fill_is_refused(template):
    with pytest.raises(RubricError, match="the persona template cannot be filled"):
        read_personas(SHEET, template)


def test_two_personas_of_one_name_are_refused_because_rows_are_named_after_them():
    with pytest.raises(RubricError, match="two personas of the name 'Bo'"):
        read_personas(f"{SHEET}Bo\t1\tOpen\tLow", "")


def test_a_sheet_without_a_needed_column_is_refused():
    with pytest.raises(RubricError, match="the persona sheet lacks the column 'Name'"):
        read_personas(SHEET.replace("Name", "Called"), "")


def test_the_real_sheet_has_100_personas_of_19_columns_and_known_risk_levels(pack):
    personas = read_personas(pack.text(PERSONAS), pack.text(PERSONA_TEMPLATE))
    assert len(personas) == len({persona.name for persona in personas}) == 100
    assert {len(persona.cells) for persona in personas} == {19}
    assert Counter(persona.risk_level for persona in personas) == {"None": 10, "Low": 30, "High": 30, "Immediate": 30}
    assert all(persona.cells["Background"] in persona.system_prompt for persona in personas)
