"""Joins."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Join",
            "exact",
            "the joined rows; for semi-joins, anti-joins and EXISTS, see [Capture](architecture.md#capture)",
        ),
        Row(
            "LateralJoin",
            "exact",
            "a `Join`. If the subquery has a LIMIT: the rows that it keeps for the outer row",
            turned=True,
        ),
        Row(
            "DomainJoin",
            "exact",
            "a `Join` with the values of the outer rows (subqueries that are correlated without an equality)",
            turned=True,
        ),
    )
)
