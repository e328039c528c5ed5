# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Serving: apps, how they call each other, in one process or each on a port of its own."""
