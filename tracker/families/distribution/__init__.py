"""Operators that only move rows to other tasks, and hints."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "RebalancePartitions, Repartition, RepartitionByExpression, ResolvedHint",
            "exact",
            (
                "the same row; refused if a later operator depends on [how `repartition(n)` distributed the "
                "rows](#rows-distributed-by-repartitionn)"
            ),
        ),
    )
)

REPARTITION = "Repartition"
