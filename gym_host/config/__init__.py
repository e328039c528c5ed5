# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Configuration: which components there are, what the files say, what a server's settings mean."""
