"""Projections."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Project", "exact", "the same row"),
        Row("Zip (from 4.3)", "exact", "a `Project`: both sides are projections of one DataFrame", turned=True),
        Row(
            "DataFrameDropColumns, PipeOperator, SQLFunctionNode",
            "exact",
            "`Project`s; for a SQL function, its query",
            turned=True,
        ),
    )
)
