"""Rows that were computed before or come from the script: caches, checkpoints, RDDs, local rows."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("LocalRelation, Range", "exact", "no input: rows that the script makes get their own row ids"),
        Row(
            "LogicalRDD",
            "exact",
            (
                "checkpoints, and rows that the script passes to `createDataFrame`. Coarse if functions were applied "
                "to the RDD: each row is linked to all rows of [the RDD's source DataFrames](session.md#rdds), or to "
                "those of their partition"
            ),
        ),
        Row(
            "Transpose",
            "exact",
            (
                "all input rows whose index column is not null, because each output row is one input column. Spark "
                "runs `transpose()` immediately; refused if it ran before capture started"
            ),
        ),
        Row("InMemoryRelation", "exact", "the cached row, and the rows that it was computed from"),
    )
)

CACHE = "InMemoryRelation"
LOCAL = "LocalRelation"
"""Node whose rows are stored in the plan."""
RANGE = "Range"
RDD = "LogicalRDD"
TRANSPOSE = "Transpose"
