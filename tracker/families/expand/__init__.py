"""Operators that make several copies of each row."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Expand", "exact", "the copied row (rollup, cube, grouping sets, unpivot)"),
        Row("Unpivot", "exact", "an `Expand`", turned=True),
    )
)
