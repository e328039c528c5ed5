# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What a model server is made of: an endpoint over HTTP, a scripted model, and the two dialects that both speak."""
