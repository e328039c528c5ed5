# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What is said of a rubric sheet: every fault, in its row, and nothing of a sheet that has none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.test_golden import cases
from tests.support.demo import demo_pack
from tests.support.rubrics import option, question, rubric_sheets, self_answering, sheet_text, sound_sheets
from vera_mh.checks.findings import Finding
from vera_mh.checks.rubric_check import check_rubric
from vera_mh.pack import RUBRIC
from vera_mh.rubric import parse_rubric
from vera_mh.walk import Walk


def checked(*rows: str) -> list[Finding]:
    return check_rubric(sheet_text(*rows))


def only(*rows: str) -> Finding:
    (finding,) = checked(*rows)
    return finding


def error(*rows: str) -> tuple[int | None, str]:
    finding = only(*rows)
    assert finding.is_error
    assert (finding.file, finding.place) == (RUBRIC, f"{RUBRIC}, row {finding.row}")
    assert finding.mend
    return finding.row, finding.what


def warning(*rows: str) -> tuple[int | None, str]:
    finding = only(*rows)
    assert not finding.is_error
    return finding.row, finding.what


Q1 = question("1", "A", "Red")
"""A sound question, to stand before or after others."""


def test_a_sound_sheet_has_no_finding():
    assert checked(Q1, question("2", "A", "Yellow", answer="Yes", goto="3"), option("No"), question("3", "B", "Red")) == []


def test_the_demo_has_no_finding():
    assert check_rubric(demo_pack().text(RUBRIC)) == []


def test_the_pinned_rubric_has_no_error_and_two_warnings_that_are_true_of_it(pack):
    found = check_rubric(pack.text(RUBRIC))
    assert [(finding.severity, finding.row) for finding in found] == [("warning", 12), ("warning", 19)]
    assert "`no` is contained in `not relevant`" in found[0].what
    assert "`immediate risk` is contained in" in found[1].what
    rubric = parse_rubric(pack.text(RUBRIC))
    assert [rubric.questions[id_].line for id_ in ("6", "9")] == [12, 19]


def test_no_golden_rubric_is_too_broken_to_be_checked(golden_folder):
    texts = [case["tsv"] for case in cases(golden_folder, "rubrics.jsonl")]
    found = [finding for text in texts for finding in check_rubric(text)]
    assert len(texts) > 20
    assert {finding.is_error for finding in found} == {True, False}
    assert all(finding.row is not None and finding.row >= 2 for finding in found)


# Rows


def test_rows_are_those_of_a_spreadsheet_with_the_header_as_row_1_and_blank_rows_counted():
    text = sheet_text(Q1, "", question("2", "A", "Blue")).replace("\n", "\r\n")
    assert [(finding.row, "Severity `Blue`" in finding.what) for finding in check_rubric(text)] == [(4, True)]


def test_a_missing_column_or_an_empty_sheet_is_one_error_of_the_header():
    for text in ("", "Question ID\tAnswer\n1\tYes", sheet_text(), sheet_text(option("Yes"))):
        (finding,) = check_rubric(text)
        assert (finding.is_error, finding.row) == (True, 1)


def test_a_column_that_stands_twice_is_an_error_of_the_header():
    (finding,) = check_rubric(
        sheet_text(Q1).replace("Examples\t", "Examples\tExamples\t").replace("Question 1?\t\t", "Question 1?\t\t\t")
    )
    assert (finding.row, "the column Examples 2 times" in finding.what) == (1, True)


def test_cells_beyond_the_header_are_an_error_and_blank_ones_are_not():
    row, what = error(Q1, f"{question('2', 'A', 'Red')}\tmore")
    assert (row, "9 cells" in what) == (3, True)
    assert checked(Q1, f"{question('2', 'A', 'Red')}\t \t") == []


def test_a_cell_that_a_spreadsheet_program_has_quoted_is_a_warning_and_raw_quotes_are_not():
    row, what = warning(question("1", "A", "Red", '"Is ""now"" missing?"'))
    assert (row, "doubled" in what) == (2, True)
    assert checked(question("1", "A", "Red", 'Is "now" missing?', '"Now." is such a word; "soon" is not.')) == []


def test_a_cell_with_a_line_break_is_a_warning_of_the_row_it_begins_in():
    found = checked(Q1, question("2", "A", "Red", '"Is it now,\nor is it later?"'))
    assert (found[0].is_error, found[0].row, "line break" in found[0].what) == (False, 3, True)
    assert {finding.row for finding in found[1:]} == {4}
    assert any(finding.is_error for finding in found[1:])


def test_an_answer_above_the_first_question_belongs_to_none():
    assert error(option("Yes"), Q1)[0] == 2


@pytest.mark.parametrize("row", [question("2", "A", "Red", goto="END"), option("", "END")])
def test_a_goto_without_an_answer_is_not_read(row):
    assert error(Q1, row) == (3, "a GOTO (END) stands beside no Answer, so it is not read")


def test_a_question_without_text_is_an_error():
    assert error(Q1, "\t".join(("2", "A", "Red", "", " ", "", "", ""))) == (3, "question 2 has no text")


def test_a_question_without_a_dimension_counts_for_none_or_for_the_one_before():
    assert error(question("1", "", "Red"), question("2", "A", "Red"))[0] == 2
    assert warning(Q1, question("2", "", "Red"))[0] == 3


def test_what_an_answer_row_says_beside_its_answer_is_not_read():
    row, what = warning(question("1", "A", "Red", answer="Yes"), question("", "A", "Red", "Why?", answer="No"))
    assert (row, "Dimension, Severity, Question" in what) == (3, True)


def test_a_row_without_an_id_and_an_answer_is_not_read_unless_nothing_of_ours_stands_in_it():
    assert warning(Q1, question("", text="A thought?"))[0] == 3
    noted = sheet_text(Q1).replace("GOTO", "GOTO\tNotes") + f"\n{option('')}\tmind this"
    assert check_rubric(noted) == []


# Questions


def test_an_id_that_stands_twice_is_an_error_of_the_later_row_and_ways_are_left_open():
    found = checked(question("1", "A", "Red", answer="Yes", goto="1"), option("No"), question("1.0", "A", "Red"))
    assert [(finding.row, finding.what) for finding in found] == [
        (4, "the id 1 stands here and in row 2, and only the last of them is asked")
    ]


@pytest.mark.parametrize("id_", ["END", "ASSIGN_END", "NOT_RELEVANT>>4"])
def test_an_id_that_is_a_word_of_goto_is_an_error(id_):
    assert error(Q1, question(id_, "A", "Red", "Why?"))[0] == 3


@pytest.mark.parametrize("marker", ["ASSIGN_END", "NOT_RELEVANT>>"])
def test_a_question_that_has_a_marker_in_its_text_is_a_warning(marker):
    assert warning(question("1", "A", "Red", f"Is {marker} in it?"))[0] == 2


@pytest.mark.parametrize("severity", ["Red", "red", "Yellow", "HIGH", "very high", "medium", ""])
def test_a_severity_that_counts_is_no_finding(severity):
    assert checked(Q1, question("2", "A", severity, answer="Yes"), option("No")) == []


@pytest.mark.parametrize("severity", ["Blue", "Redd", "Low", "Yelow"])
def test_a_severity_that_counts_for_nothing_is_an_error(severity):
    row, what = error(Q1, question("2", "A", severity))
    assert (row, f"`{severity}`" in what) == (3, True)


def test_a_severity_without_a_yes_is_a_warning_unless_an_answer_ends_with_it():
    assert warning(question("1", "A", "Red", answer="Often"), option("Never"))[0] == 2
    assert checked(question("1", "A", "Red", answer="Often", goto="ASSIGN_END"), option("Never")) == []


def test_a_question_without_answers_needs_a_severity():
    row, what = error(Q1, question("2", "A"))
    assert (row, "no answers and no Severity" in what) == (3, True)


def test_a_single_answer_is_a_warning():
    assert warning(Q1, question("2", "A", "Red", answer="Yes"))[0] == 3


@pytest.mark.parametrize("second", ["Yes", "yes", " YES "])
def test_answers_that_cannot_be_told_apart_are_an_error_of_the_second(second):
    row, what = error(Q1, question("2", "A", "Red", answer="Yes"), option(second), option("No"))
    assert (row, "row 3 too" in what) == (4, True)


def test_an_answer_within_another_is_told_of_once_for_all_questions():
    row, what = warning(
        question("1", "A", "Red", answer="Yes"),
        option("Not now"),
        option("No"),
        question("2", "A", "Red", answer="Yes"),
        option("No"),
        option("not NOW"),
    )
    assert (row, "`no` is contained in `not now` (questions 1, 2)" in what) == (2, True)


@pytest.mark.parametrize(
    "row",
    [
        self_answering("2", "A", ""),
        self_answering("2", "A", "3"),
        self_answering("2", "A", "NOT_RELEVANT>>3").replace("\tRate this", "\tMark this"),
        question("2", "A", text='Select "Rate this dimension Not Relevant".'),
    ],
)
def test_a_question_that_answers_itself_must_mark_its_dimension(row):
    found_row, what = error(question("1", "A", "Red"), row, question("3", "B", "Red"))
    assert (found_row, "does not" in what) == (3, True)


def test_a_question_that_answers_itself_and_marks_its_dimension_is_no_finding():
    assert checked(Q1, self_answering("2", "A", "NOT_RELEVANT>>3"), question("3", "B", "Red")) == []


# Dimensions


def test_a_dimension_that_stands_beside_no_question_is_an_error():
    found = checked(question("1", "A", "Red", answer="Yes"), question("", "B", answer="No"))
    assert [(finding.is_error, finding.row) for finding in found] == [(False, 3), (True, 3)]
    assert "the dimension `B` has no question" in found[1].what


def test_a_dimension_without_a_severity_is_a_warning():
    row, what = warning(Q1, question("2", "B", answer="Yes"), option("No"), question("3", "C", "Red"))
    assert (row, "`B`" in what) == (3, True)


# Ways


@pytest.mark.parametrize(
    ("goto", "target"),
    [("9", "9"), ("NOT_RELEVANT>>9", "9"), ("NOT_RELEVANT>>", ""), ("end", "end"), ("NOT_RELEVANT>>2.0", "2.0")],
)
def test_an_answer_that_leads_nowhere_is_an_error_of_its_row(goto, target):
    row, what = error(question("1", "A", "Red", answer="Yes"), option("No", goto), option("So so"), question("2", "A", "Red"))
    assert (row, f"there is no question `{target}`" in what) == (3, True)


def test_a_question_that_no_answer_leads_to_is_an_error_of_its_row():
    found = checked(
        question("1", "A", "Red", answer="Yes", goto="3"), option("No", "3"), question("2", "A", "Red"), question("3", "A", "Red")
    )
    assert [(finding.row, finding.what) for finding in found] == [
        (4, "question 2 cannot be reached: no way from the first question leads to it")
    ]


def test_a_question_behind_one_that_cannot_be_reached_cannot_be_reached_either():
    found = checked(
        question("1", "A", "Red", answer="Yes", goto="END"),
        option("No", "END"),
        question("2", "A", "Red"),
        question("3", "A", "Red"),
    )
    assert [finding.row for finding in found if finding.is_error] == [4, 5]


def test_a_loop_is_an_error_of_the_answer_that_closes_it():
    row, what = error(
        Q1, question("2", "A", "Red", answer="Yes"), option("No"), question("3", "A", "Red", answer="Yes", goto="2"), option("No")
    )
    assert (row, "2 -> 3 -> 2" in what) == (5, True)


def test_a_question_that_leads_to_itself_is_a_loop():
    row, what = error(question("1", "A", "Red", answer="Yes", goto="1"), option("No"))
    assert (row, "1 -> 1" in what) == (2, True)


def test_two_ways_that_meet_again_are_no_loop():
    assert (
        checked(
            question("1", "A", "Red", answer="Yes", goto="3"), option("No"), question("2", "A", "Red"), question("3", "A", "Red")
        )
        == []
    )


# Whatever the sheet


def walks(text: str) -> Iterator[Walk]:
    """Every walk that answers could make over a rubric."""
    rubric = parse_rubric(text)
    waiting: list[list[str]] = [[]]
    while waiting:
        answers = waiting.pop()
        walk = Walk(rubric)
        for answer in answers:
            walk.answer(answer, "")
        if walk.current is None:
            yield walk
        else:
            waiting += [[*answers, each.text] for each in walk.current.options]


@given(sound_sheets())
def test_a_sheet_that_was_made_without_fault_has_no_finding(text):
    assert check_rubric(text) == []


@given(sound_sheets(), st.data())
def test_one_fault_put_into_a_sound_sheet_is_found_in_its_row(text, data):
    lines = text.split("\n")
    row = data.draw(st.integers(2, len(lines)), label="row")
    cells = lines[row - 1].split("\t")
    faults = {
        "GOTO": (7, "99") if cells[6] else (7, "END"),
        "severity": (2, "Purple"),
        "text": (4, " "),
        "beyond": (7, f"{cells[7]}\tmore"),
    }
    names = sorted(faults) if cells[0] else ["GOTO", "beyond"]
    column, value = faults[data.draw(st.sampled_from(names), label="fault")]
    cells[column] = value
    lines[row - 1] = "\t".join(cells)
    assert row in [finding.row for finding in check_rubric("\n".join(lines)) if finding.is_error]


@given(rubric_sheets())
def test_what_is_said_of_ways_is_what_the_walks_do(text):
    found = [finding.what for finding in check_rubric(text) if finding.is_error]
    ends = list(walks(text))
    steps = [step for walk in ends for step in walk.steps]
    asked = {step.question.id for step in steps}
    rubric = parse_rubric(text)
    unreachable = {what.split()[1] for what in found if "cannot be reached" in what}
    assert unreachable == set(rubric.order) - asked
    lost = {step.question.id for step in steps if step.transition.to is not None and step.transition.to not in rubric.questions}
    told = {what.partition(" of question ")[2].split()[0] for what in found if "there is no question" in what}
    assert told & asked == lost
    back = any(step.next_question is None and step.transition.to in rubric.questions for step in steps)
    looped = [what.partition(" of question ")[2].split()[0] for what in found if "leads back" in what]
    assert any(id_ in asked for id_ in looped) == back


@given(st.lists(st.text('1A\t\n\r .>"ydNo', max_size=30), max_size=12))
def test_no_text_is_too_odd_to_be_checked(lines):
    for finding in check_rubric(sheet_text(*lines)):
        assert finding.row is not None
        assert finding.what
        assert finding.mend
