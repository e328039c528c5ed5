# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a pack: what is wrong with it, where, and how to mend it."""
