"""Aggregates: one output row for each group."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Aggregate",
            "exact",
            (
                "all rows of the group, with any function, FILTER or DISTINCT. Refused: grouping by a map with nulls, "
                "by a user-defined type such as MLlib vectors (Spark compares them bit by bit), or by `session_window` "
                "(Spark merges the sessions while it runs)"
            ),
        ),
        Row("Pivot", "exact", "two `Aggregate`s", turned=True),
    )
)
