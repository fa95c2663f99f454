"""Joins with the nearest rows of the other side."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "NearestByJoin (from 4.2)",
            "exact",
            "the left row and the right row; of several equally near right rows, the one in the output",
        ),
    )
)
