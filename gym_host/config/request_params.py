# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""`responses_create_params`: what a row, the configuration or a flag asks of the evaluated model, besides the conversation."""

from __future__ import annotations

PARAMS = "responses_create_params"
"""The key, of a row and of the configuration."""

_RESPONSES = frozenset(
    """background context_management conversation include input instructions max_output_tokens max_tool_calls metadata model
    moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier
    service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user""".split()
)
_CHAT = frozenset(
    """frequency_penalty logit_bias logprobs max_completion_tokens max_tokens modalities n prediction presence_penalty
    reasoning_effort response_format seed stop verbosity web_search_options""".split()
)
_ENDPOINTS = frozenset(
    """chat_template_kwargs ignore_eos length_penalty logits_processors min_p min_tokens mm_processor_kwargs provider
    repetition_penalty skip_special_tokens stop_token_ids thinking thinking_budget top_a top_k""".split()
)

PARAMETERS = _RESPONSES | _CHAT | _ENDPOINTS
"""Parameters of the Responses API, of chat completions, and those that many endpoints take besides."""
