"""Observed metrics and watermarks."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "CollectMetrics, EventTimeWatermark",
            "exact",
            (
                "the same row; an `Observation` gets the same values as without capture. Refused: `observe()` in the "
                "outer query or the subquery of an uncorrelated `EXISTS`, because the `Observation` might see other "
                "rows in the rewritten plan"
            ),
        ),
    )
)
