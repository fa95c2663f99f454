"""Functions over batches of rows."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "MapInArrow, MapInPandas",
            "coarse",
            (
                "all rows of the task's partition; exact if the function is declared with `provspark.rowwise` or "
                "`provspark.keeps_index`"
            ),
        ),
        Row(
            "MapPartitionsInR, MapPartitionsInRWithArrow, ScriptTransformation",
            "coarse",
            "all rows of the task's partition",
        ),
    )
)
