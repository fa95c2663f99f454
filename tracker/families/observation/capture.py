"""Each row stays the row it was."""

from __future__ import annotations

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.passing import passing

RULE = CaptureRule(frozenset({"CollectMetrics", "EventTimeWatermark"}), passing)

CHANGED = {
    "CollectMetrics": "observe() with an EXISTS that names no outer column: ProvSpark's plan could observe other rows"
}
