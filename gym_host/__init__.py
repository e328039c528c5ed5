# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""The host: configuration, servers, rollouts and the `gym` command. It knows nothing of any one benchmark."""
