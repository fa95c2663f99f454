"""Scans of files, and the single row of a query without FROM."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "LogicalRelation",
            "exact",
            (
                "files: Parquet, CSV, JSON, ORC, text, XML that is read whole; any other relation, and options that "
                "silently drop rows, are refused"
            ),
        ),
        Row("OneRowRelation", "exact", "the single row of a query without FROM comes from no row"),
    )
)

RELATION = "LogicalRelation"
"""Node that reads files or a table."""
