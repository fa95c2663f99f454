"""Joins."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Join",
            "exact",
            "the joined rows; [semi-joins, anti-joins and EXISTS](architecture.md#capture)",
        ),
        Row(
            "LateralJoin",
            "exact",
            "a join: the joined rows; with a LIMIT inside, the rows that it keeps for the outer row",
            turned=True,
        ),
        Row(
            "DomainJoin",
            "exact",
            "a join with the outer rows' values, in a subquery correlated without an equality: not a separate read",
            turned=True,
        ),
    )
)
