# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""VERA-MH as a library: persona, conversation, judge, rating, score. No web framework, no command, no global state."""
