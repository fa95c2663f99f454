"""Scans of files, and the one row of a query without FROM."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "LogicalRelation",
            "exact",
            (
                "files: Parquet, CSV, JSON, ORC, text, XML that is read whole; any other relation, and options by "
                "which rows get lost without a word, are refused"
            ),
        ),
        Row("OneRowRelation", "exact", "a row that the query makes has no origin"),
    )
)

RELATION = "LogicalRelation"
"""What reads files or a table."""
