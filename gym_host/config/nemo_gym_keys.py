# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Top-level keys that the host of NeMo Gym 0.7.0 reads, so that one configuration serves both hosts."""

from __future__ import annotations

_HOST = """
    allow_openai_version_skew allow_unsupported_pairing cache_dir component_name config_paths default_host
    disallowed_ports dry_run entrypoint environment_routing_mode environment_server_name environment_server_routes
    error_on_agent_without_environment_server global_aiohttp_client_request_debug global_aiohttp_connector_limit
    global_aiohttp_connector_limit_per_host global_aiohttp_intended_concurrency
    global_aiohttp_intended_concurrency_per_host global_aiohttp_tcp_keepalive_idle_seconds
    global_aiohttp_tcp_keepalive_interval_seconds global_aiohttp_tcp_keepalive_probes head_server head_server_deps
    hf_token json mlflow_experiment_name mlflow_run_name mlflow_tracking_token mlflow_tracking_uri model_call_capture_dir
    model_endpoint_readiness_timeout_seconds nemo_gym_log_dir observability_enabled pip_install_verbose port_range_high
    port_range_low profiling_enabled profiling_results_dirpath python_version query ray_head_node_address results_dir
    server_spinup_timeout_seconds skip_venv_if_present skip_verification skip_verification_reward telemetry
    token_id_capture use_absolute_ip uv_cache_dir uv_lock_timeout_seconds uv_pip_set_python uv_venv_dir
    uvicorn_forwarded_allow_ips uvicorn_logging_show_200_ok uvicorn_proxy_headers uvicorn_timeout_worker_healthcheck
    verbose wandb_api_key wandb_name wandb_project
""".split()

_COMMAND = """
    agent_map agent_name append artifact_fpath count_failure_classes_as_zero count_missing_rollouts_as_zero data_source
    dataset_name delete_venvs_after_each_test disable_aggregation disable_health_check dispatch_budget_s
    dispatch_longest_first drain_margin_s fail_on_total_and_test_mismatch fan_out force format
    health_check_ignored_checks health_check_workers hf_collection_name hf_collection_slug hf_dataset_prefix
    hf_organization input_format input_glob input_jsonl_fpath interleave_repeats judge_failed_only limit
    materialized_inputs_jsonl_fpath max_resident_rollout_tasks merge_shards mode num_prepare_benchmark_processes
    num_repeats num_repeats_add_seed num_samples_in_parallel num_shards output_dirpath output_fpath output_jsonl_fpath
    overwrite overwrite_metrics_conflicts prepare_script_args profile prompt_config repo_id report_format
    require_complete resource_config_path resume_from_cache retain_results_in_memory retry_invalid_judge_responses
    retry_terminal_timeouts reuse_existing_data_preparation revision rollout_collection_driver rollouts_jsonl_fpath
    route_failures_to_sidecar session_id setup_only shard_index should_download should_validate_data skills split
    task_data_validation upload_rollouts use_cached_prepared_benchmarks version
""".split()

NEMO_GYM_KEYS = frozenset([*_HOST, *_COMMAND])
"""What runs and starts servers, and what tells one of its commands what to do."""
