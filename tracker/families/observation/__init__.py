"""Observed metrics and watermarks."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "CollectMetrics, EventTimeWatermark",
            "exact",
            (
                "the same row; an `Observation` gets the same values as without capture. Refused: `observe()` in a "
                "query with an uncorrelated `EXISTS`, or in its subquery, because the `Observation` might see other "
                "rows in the rewritten plan"
            ),
        ),
    )
)
