"""Joins with the nearest rows of the other side."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "NearestByJoin (from 4.2)",
            "exact",
            "the left row and the nearest right row; on a tie, the right row that Spark returned",
        ),
    )
)
