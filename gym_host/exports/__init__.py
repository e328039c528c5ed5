# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Runs handed on to other tools. Each module needs a package of its own and is loaded only by the command that wants it."""
