# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Holds a finished run against upstream's own code, run beside it from a checkout that the user names."""
