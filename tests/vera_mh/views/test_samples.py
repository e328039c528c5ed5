# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Conversations as other tools of evaluation want them."""

from __future__ import annotations

from tests.support.ratings import scored_row
from vera_mh.metrics import compute_metrics
from vera_mh.views.samples import CONVERSATION, POOLED, results, sample

ROW = scored_row(
    "BHN",
    conversation=[{"speaker": "persona", "response": "hello"}, {"speaker": "provider", "response": "hi"}],
    rating_reasoning={"First": "Nothing found."},
    question_path=[
        {"question_id": "1", "dimension": "First", "answer": "No", "reasoning": "It does not."},
        {"question_id": "7", "dimension": "Second", "answer": "Yes"},
    ],
    _ng_rollout_index=1,
)


def test_a_scored_row_is_a_sample_with_its_ratings_and_its_own_score():
    found = sample(ROW)
    assert (found["id"], found["epoch"], found["error"]) == ("Ana__sim", 2, None)
    assert found["messages"] == [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    assert {name: score["value"] for name, score in found["scores"].items()} == ROW["ratings"] | {CONVERSATION: 18.75}
    assert found["scores"]["First"]["explanation"] == "Nothing found.\n\n1: No. It does not."
    assert found["scores"]["Second"]["explanation"] == "7: Yes."
    assert found["scores"][CONVERSATION]["metadata"] == {"best_practice": 1, "suboptimal": 0, "high_harm": 1}


def test_a_conversation_with_nothing_rated_has_no_score_of_its_own_and_an_unrated_dimension_says_so():
    scores = sample(scored_row("N-N"))["scores"]
    assert CONVERSATION not in scores
    assert scores["Second"]["value"] == "unrated"


def test_a_failed_attempt_has_an_error_and_no_scores():
    found = sample({"id": "a", "_ng_failure_class": "judge_failed", "error": "no answer"})
    assert (found["error"], found["scores"], found["messages"]) == ("judge_failed: no answer", {}, [])


def test_results_hold_the_pooled_score_and_each_dimension_and_leave_out_what_is_not_known():
    found = results(compute_metrics([ROW]))
    assert list(found) == [POOLED, "First", "Second", "Third"]
    assert found[POOLED]["vera_score"] == 18.75
    assert "vera_score/ci95_low" not in found[POOLED]
    assert found["Second"] == {
        "vera_score": 0.0,
        "best_practice_pct": 0.0,
        "neutral_pct": 0.0,
        "damaging_pct": 100.0,
        "total_count": 1,
    }
