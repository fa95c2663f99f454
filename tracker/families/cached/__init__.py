"""What was computed before, or comes from the script: caches, checkpoints, RDDs, local rows."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("LocalRelation, Range", "exact", "rows that the script makes get row ids of their own"),
        Row(
            "LogicalRDD",
            "exact",
            (
                "rows handed over, checkpoints; with functions in between coarse: the rows of the partition, or all, "
                "of [the frames that the RDD was made of](session.md#rdds)"
            ),
        ),
        Row(
            "Transpose",
            "exact",
            (
                "each of its rows is a column of all rows that went in with an index; it is computed at once, and "
                "refused where that was before capture"
            ),
        ),
        Row("InMemoryRelation", "exact", "cached rows are those that lineage speaks of"),
    )
)

CACHE = "InMemoryRelation"
LOCAL = "LocalRelation"
"""Rows in the plan itself."""
RANGE = "Range"
RDD = "LogicalRDD"
TRANSPOSE = "Transpose"
