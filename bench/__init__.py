# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""What our own part of a run costs, side by side with what it is built on. Ratios within one run are what counts."""
