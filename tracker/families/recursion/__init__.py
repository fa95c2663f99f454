"""Recursive queries."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="UnionLoop, UnionLoopRef",
    why=Refusal("a recursive query does not keep which pass a row came from", "write the rows of each pass in a loop"),
)
