"""Operators that make several copies of each row."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Expand", "exact", "rollup, cube, grouping sets, unpivot: the row that was copied"),
        Row("Unpivot", "exact", "an Expand", turned=True),
    )
)
