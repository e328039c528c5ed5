# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Pages that show a run, or two runs side by side: one HTML file each, which needs no network and no server."""

from vera_mh.report.comparison_page import comparison_page
from vera_mh.report.content import RunContent
from vera_mh.report.run_page import run_page

__all__ = ["RunContent", "comparison_page", "run_page"]
