"""Observed metrics and watermarks: the provenance columns pass through."""

from __future__ import annotations

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.passing import passing

RULE = CaptureRule(frozenset({"CollectMetrics", "EventTimeWatermark"}), passing)

CHANGED = {
    "CollectMetrics": "observe() is combined with an uncorrelated EXISTS, and the rewritten plan could observe other "
    "rows; call observe() in a query without the EXISTS"
}
