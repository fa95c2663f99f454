"""Repartitioning and hints, which change no rows."""

from __future__ import annotations

from provspark.replay.narrow import SameRule

RULES = {
    "RebalancePartitions": SameRule(),
    "Repartition": SameRule(),
    "RepartitionByExpression": SameRule(),
    "ResolvedHint": SameRule(keeps_order=True),
}
