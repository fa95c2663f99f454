"""Aggregates: one output row for each group."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Aggregate",
            "exact",
            (
                "all rows of the group, whatever the functions, FILTER or DISTINCT; grouping by a map with nulls, or "
                "by a type of a library's own (vectors), which Spark compares bit by bit, is refused; so is grouping "
                "by `session_window`, whose sessions Spark merges as it runs"
            ),
        ),
        Row("Pivot", "exact", "two aggregates", turned=True),
    )
)
