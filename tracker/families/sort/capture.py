"""Each row stays the row it was."""

from __future__ import annotations

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.passing import passing

RULE = CaptureRule(frozenset({"Sort"}), passing)
