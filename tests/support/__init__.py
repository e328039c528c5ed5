# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What several tests need: an OpenAI-compatible endpoint of our own that can misbehave on demand (`tests.support.endpoint`)."""
