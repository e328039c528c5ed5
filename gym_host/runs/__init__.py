# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Runs: rows in, rollouts out, what is kept on disk and how a run goes on."""
