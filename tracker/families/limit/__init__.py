"""Limits and offsets."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "GlobalLimit, LimitAll (from 4.1), LocalLimit, Offset, Tail",
            "exact",
            (
                "the same row; refused if a later operator depends on [how `repartition(n)` distributed the "
                "rows](#rows-distributed-by-repartitionn)"
            ),
        ),
    )
)

METHODS = {"GlobalLimit": "limit", "LocalLimit": "limit", "Offset": "offset", "Tail": "tail"}
"""Method of DataFrames that makes each node whose literal is a number of rows."""
