"""Rows that were computed before or come from the script: caches, checkpoints, RDDs, local rows."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("LocalRelation, Range", "exact", "rows that the script makes get row ids of their own"),
        Row(
            "LogicalRDD",
            "exact",
            (
                "checkpoints, and rows that the script passes in. Coarse for an RDD with functions: all rows, or those "
                "of the partition, of [the frames that it was made from](session.md#rdds)"
            ),
        ),
        Row(
            "Transpose",
            "exact",
            (
                "all input rows whose index is not null: each output row is one of their columns. Spark computes it "
                "at once; refused if that was before capture"
            ),
        ),
        Row("InMemoryRelation", "exact", "the cached row, and through it the rows that it was computed from"),
    )
)

CACHE = "InMemoryRelation"
LOCAL = "LocalRelation"
"""Node whose rows are stored in the plan."""
RANGE = "Range"
RDD = "LogicalRDD"
TRANSPOSE = "Transpose"
