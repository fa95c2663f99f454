"""Observed metrics and watermarks."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "CollectMetrics, EventTimeWatermark",
            "exact",
            (
                "the row; an `Observation` gets the values that it gets from plain Spark. A plan with `observe()` in "
                "the outer query or the subquery of an uncorrelated `EXISTS` is refused, because in the rewritten "
                "plan the `Observation` might see other rows"
            ),
        ),
    )
)
