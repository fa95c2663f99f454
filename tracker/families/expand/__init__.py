"""Operators that copy each row."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Expand", "exact", "rollup, cube, grouping sets, unpivot: each copy owes itself to the row"),
        Row("Unpivot", "exact", "an Expand", turned=True),
    )
)
