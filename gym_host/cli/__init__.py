# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The `gym` command: words in, text out. Everything else of the host can be used without it."""
