"""Recursive queries."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="UnionLoop, UnionLoopRef",
    why=Refusal(
        "Spark does not record which iteration of a recursive query a row came from",
        "write the rows of each iteration in a loop",
    ),
)
