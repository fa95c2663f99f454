"""Projections."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row("Project", "exact", "the row"),
        Row("Zip (from 4.3)", "exact", "a projection: both sides are projections of one DataFrame", turned=True),
        Row(
            "DataFrameDropColumns, PipeOperator, SQLFunctionNode",
            "exact",
            "projections; the query of a SQL function",
            turned=True,
        ),
    )
)
