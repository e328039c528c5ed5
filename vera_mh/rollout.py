# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a conversation and its verdict look like in a row: the keys that the agent and the verifier add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vera_mh.errors import SETUP, JudgeFailed, RowError, SimulationFailed
from vera_mh.judge import Verdict
from vera_mh.judge_directed import judge_directed_text
from vera_mh.models import Json
from vera_mh.output_items import check_output, conversation_from_output, response_with_conversation
from vera_mh.pack import Pack
from vera_mh.rating import NOT_RELEVANT, UNRATED
from vera_mh.score import conversation_score, has_high_harm, is_all_best_practice, is_relevant, reward
from vera_mh.simulation import effective_max_turns
from vera_mh.transcript import render_transcript, sha256
from vera_mh.turns import PERSONA, PROVIDER, START_PROMPT, Exchange, Speaker, Turn, conversation_from_json
from vera_mh.usage import add_usage

_OF_A_JUDGING = frozenset(
    {
        "_ng_failure_class",
        "_ng_failure_terminal",
        "all_best_practice_or_not_relevant",
        "all_not_relevant",
        "conversation_vera_score",
        "error",
        "failure_details",
        "failure_kind",
        "failure_reason",
        "failure_stage",
        "has_high_harm",
        "judge_calls",
        "judge_fallback_answers",
        "judge_inexact_answers",
        "judge_model",
        "judge_parse_retries_used",
        "judge_receipts",
        "judge_repaired_replies",
        "judge_rounds",
        "judge_speculative_calls",
        "judge_speculative_usage",
        "judge_usage",
        "mask_sample",
        "pack",
        "pack_sha256",
        "question_path",
        "questions_asked",
        "rated_dimensions",
        "rating_reasoning",
        "ratings",
        "reward",
        "rubric_version",
        "upstream_revision",
        "yes_question_ids",
        "yes_reasoning",
    }
)
"""Keys that a verdict or a failed judging adds to a row."""

JUDGE_FAILED = "judge_failed"
SIMULATION_FAILED = "vera_mh_simulation_failed"

_KINDS = {JUDGE_FAILED: "judge_failed", SIMULATION_FAILED: "vera_mh:simulation_failed"}
"""What NeMo Gym calls the failures: a word of its own vocabulary, or one that names its environment."""

_LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True)
class SimulationSetup:
    """Who talked to whom, for the record.

    Attributes:
        user_simulator: Name of the user simulator, as the row has it.
        user_model_server: Model server that played the persona.
        provider_model_server: Model server of the chatbot under evaluation.
        provider_system_prompt: Its system prompt.
        max_turns: Turns that the row asked for.
    """

    user_simulator: str
    user_model_server: str
    provider_model_server: str
    provider_system_prompt: str
    max_turns: int


def simulated_fields(
    exchanges: Sequence[Exchange], setup: SimulationSetup, *, params: Mapping[str, Any], duration_ms: float
) -> Json:
    """What a finished simulation adds to its row: `response`, `conversation`, `simulation` and what follows from them.

    Args:
        exchanges: All turns.
        setup: Who talked to whom.
        params: The row's `responses_create_params`.
        duration_ms: Duration of the whole conversation in milliseconds.
    """
    turns = [exchange.turn for exchange in exchanges]
    transcript = render_transcript(turns)
    provider_usage = _usage(exchanges, PROVIDER)
    simulation = {
        "user_simulator": setup.user_simulator,
        "user_model_server": setup.user_model_server,
        "provider_model_server": setup.provider_model_server,
        "provider_system_prompt": setup.provider_system_prompt,
        "start_prompt": START_PROMPT,
        "max_turns_requested": setup.max_turns,
        "max_turns_effective": effective_max_turns(setup.max_turns),
        "turn_records": [exchange.to_record() for exchange in exchanges],
        "provider_usage": provider_usage,
        "persona_usage": _usage(exchanges, PERSONA),
        "provider_empty_turns": sum(e.is_empty for e in exchanges if e.turn.speaker == PROVIDER),
        "provider_truncated_turns": sum(e.is_truncated for e in exchanges if e.turn.speaker == PROVIDER),
        "persona_empty_turns": sum(e.is_empty for e in exchanges if e.turn.speaker == PERSONA),
        "duration_ms": duration_ms,
        "transcript_sha256": sha256(transcript),
    }
    return {
        "response": response_with_conversation(exchanges, params=params, usage=provider_usage),
        "conversation": [turn.to_json() for turn in turns],
        "transcript": transcript,
        "turn_count": len(turns),
        "provider_turn_count": _provider_turns(turns),
        "early_termination": any(turn.early_termination for turn in turns),
        "simulation": simulation,
    }


def _provider_turns(turns: Sequence[Turn]) -> int:
    return sum(turn.speaker == PROVIDER for turn in turns)


def _usage(exchanges: Sequence[Exchange], speaker: Speaker) -> Json | None:
    return add_usage(e.response.get("usage") for e in exchanges if e.turn.speaker == speaker)


def turns_of_row(row: Mapping[str, Any]) -> list[Turn]:
    """The conversation of a row: its `conversation` if there, else rebuilt from `response.output`.

    Raises:
        RowError: The row holds neither, or in a shape that cannot be read.
    """
    turns = _turns(row)
    if not turns:
        raise RowError("the conversation has no turns, so there is nothing to judge")
    return turns


def _turns(row: Mapping[str, Any]) -> list[Turn]:
    conversation = row.get("conversation")
    if conversation is not None:
        if not isinstance(conversation, list):
            raise RowError("`conversation` is no list of turns")
        return conversation_from_json(conversation)
    response = row.get("response")
    output = response.get("output") if isinstance(response, Mapping) else None
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise RowError("the row has neither `conversation` nor `response.output`, so there is nothing to judge")
    _refuse_turns_in_input(row.get("responses_create_params"))
    check_output(output)
    return conversation_from_output(output)


def _refuse_turns_in_input(params: Any) -> None:
    """Refuses a row whose `input` holds a part of the talk, as is usual for tasks of one turn: it would go unheard."""
    given = params.get("input") if isinstance(params, Mapping) else None
    place = "responses_create_params.input"
    if isinstance(given, list):
        spoken = (n for n, item in enumerate(given) if isinstance(item, Mapping) and item.get("role") in ("user", "assistant"))
        first = next(spoken, None)
        place = f"{place}[{first}]"
    else:
        first = 0 if given else None
    if first is not None:
        raise RowError(
            f"{place}: a part of the conversation stands here, where the verifier does not look. All of it belongs in "
            '`response.output`, in order, the user\'s messages as {"type": "message", "role": "user", "content": "..."}'
        )


def unjudged(row: Mapping[str, Any]) -> Json:
    """The row as it was before any judging: without the verdict or the failure that an earlier judging left in it.

    A verdict adds its own fields. What an earlier one had added would stand beside them, as if it belonged to them.
    """
    left = {key: value for key, value in row.items() if key not in _OF_A_JUDGING}
    config = left.get("instance_config")
    if isinstance(config, Mapping) and "mask_sample" in config:
        left["instance_config"] = {key: value for key, value in config.items() if key != "mask_sample"}
        if not left["instance_config"]:
            del left["instance_config"]
    return left


def conversation_fields(turns: Sequence[Turn], row: Mapping[str, Any]) -> Json:
    """What the verifier says of the conversation itself, made anew from its turns.

    Args:
        turns: The turns.
        row: The row as it came; if it carries a transcript of the agent's, the two are compared.
    """
    transcript = render_transcript(turns)
    digest = sha256(transcript)
    return {
        "conversation": [turn.to_json() for turn in turns],
        "transcript": transcript,
        "transcript_sha256": digest,
        "transcript_matches_agent": _matches_agent(row, digest),
        "turn_count": len(turns),
        "provider_turn_count": _provider_turns(turns),
        "early_termination": any(turn.early_termination for turn in turns),
        "judge_directed_text": judge_directed_text(turns),
    }


def _matches_agent(row: Mapping[str, Any], digest: str) -> bool | None:
    """Whether the agent saw the same transcript; None if the row does not say."""
    simulation = row.get("simulation")
    claimed = simulation.get("transcript_sha256") if isinstance(simulation, Mapping) else None
    return None if claimed is None else claimed == digest


def verdict_fields(verdict: Verdict, pack: Pack) -> Json:
    """What a verdict adds to its row."""
    ratings = {dimension: rated.rating for dimension, rated in verdict.ratings.items()}
    receipts = verdict.receipts
    return {
        "reward": reward(ratings),
        "ratings": ratings,
        "rating_reasoning": {dimension: rated.reasoning for dimension, rated in verdict.ratings.items()},
        "yes_question_ids": {dimension: rated.yes_question_id for dimension, rated in verdict.ratings.items()},
        "yes_reasoning": {dimension: rated.yes_reasoning for dimension, rated in verdict.ratings.items()},
        "question_path": verdict.path_json(),
        "questions_asked": len(verdict.answers),
        "judge_calls": len(receipts),
        "judge_fallback_answers": verdict.fallback_answers,
        "judge_inexact_answers": verdict.inexact_answers,
        "judge_parse_retries_used": verdict.parse_retries,
        "judge_repaired_replies": verdict.repaired_replies,
        "judge_receipts": [*receipts, *verdict.speculative],
        "judge_usage": add_usage(receipt["usage"] for receipt in receipts),
        "judge_rounds": verdict.rounds,
        "judge_speculative_calls": len(verdict.speculative),
        "judge_speculative_usage": add_usage(receipt["usage"] for receipt in verdict.speculative),
        "judge_model": receipts[-1]["judge_model"] if receipts else None,
        "conversation_vera_score": conversation_score(ratings),
        "all_not_relevant": not is_relevant(ratings),
        "rated_dimensions": sum(rating not in (NOT_RELEVANT, UNRATED) for rating in ratings.values()),
        "has_high_harm": float(has_high_harm(ratings)),
        "all_best_practice_or_not_relevant": float(is_all_best_practice(ratings)),
    } | pack.about()


def judge_failure_fields(failure: JudgeFailed, row: Mapping[str, Any]) -> Json:
    """What a failed judging adds to its row: no rating, and all that is known of the judge's last reply."""
    details = {
        "question_id": failure.question_id,
        "attempts": failure.attempts,
        "raw_reply": failure.raw_reply,
        "finish_reason": failure.finish_reason,
        "usage": failure.usage,
        "receipts": failure.receipts,
    }
    stage = f"judge_question_{failure.question_id}"
    return _failure_fields(JUDGE_FAILED, str(failure), stage, row) | {"failure_details": details}


def verifier_failure_fields(error: str, row: Mapping[str, Any]) -> Json:
    """What a verifier that gave no answer adds to a row: it counts as a failed judging, since the conversation is finished."""
    return _failure_fields(JUDGE_FAILED, error, "verify", row)


def simulation_failure_fields(failure: SimulationFailed, row: Mapping[str, Any]) -> Json:
    """What a failed simulation adds to its row: why, and a `response` with the turns before, as trainers want of every row."""
    exchanges, usage = failure.exchanges, _usage(failure.exchanges, PROVIDER)
    fields = _failure_fields(SIMULATION_FAILED, str(failure), failure.stage, row)
    fields["response"] = response_with_conversation(exchanges, params=row["responses_create_params"], usage=usage)
    # A row that does not fit the pack or the configuration fits no better the next time.
    return fields | {"_ng_failure_terminal": True} if failure.stage == SETUP else fields


def _failure_fields(failure_class: str, error: str, stage: str, row: Mapping[str, Any]) -> Json:
    config = row.get("instance_config")
    return {
        "_ng_failure_class": failure_class,
        "error": error,
        "failure_stage": stage,
        "failure_kind": _KINDS[failure_class],
        "failure_reason": error[:_LONGEST_REASON],
        "reward": 0.0,
        "mask_sample": True,
        # Where some versions of NeMo RL look for it.
        "instance_config": {**(config if isinstance(config, Mapping) else {}), "mask_sample": True},
    }
