"""Scans of files, and the single row of a query without FROM."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "LogicalRelation",
            "exact",
            (
                "the row of the file (Parquet, CSV, JSON, ORC, text, XML files that Spark does not split), or of a "
                "JDBC table with declared keys. Refused: other relations, and options that silently drop rows, such "
                "as `mode=DROPMALFORMED`"
            ),
        ),
        Row("OneRowRelation", "exact", "no input: the single row of a query without FROM"),
    )
)

RELATION = "LogicalRelation"
"""Node that reads files or a table."""
