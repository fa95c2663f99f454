"""Joins."""

from provspark.tracker.families.contract import Family, Row

FAMILY = Family(
    (
        Row(
            "Join", "exact", "the rows joined; semi-joins, anti-joins and EXISTS as [the meaning](architecture.md) says"
        ),
        Row(
            "LateralJoin",
            "exact",
            "a join: the rows joined; of a LIMIT within it, the rows that it lets pass for that row",
            turned=True,
        ),
        Row(
            "DomainJoin",
            "exact",
            "a join with the outer rows' values, in a subquery correlated by no equality: no reading of its own",
            turned=True,
        ),
    )
)
