"""DISTINCT, and dropDuplicates on some columns."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Deduplicate",
            "exact",
            "an `Aggregate` that keeps one row of each group; the others are context rows",
            turned=True,
        ),
        Row("Distinct", "exact", "an `Aggregate` by all columns", turned=True),
        Row("UnresolvedDeduplicate (from 4.3)", "exact", "`Deduplicate`", turned=True),
    )
)
