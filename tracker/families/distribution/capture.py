"""Repartitioning and hints: the provenance columns pass through."""

from __future__ import annotations

from provspark.tracker.families.contract import CaptureRule
from provspark.tracker.plan.passing import passing

RULE = CaptureRule(
    frozenset({"RebalancePartitions", "Repartition", "RepartitionByExpression", "ResolvedHint"}), passing
)
