"""Recursive queries."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="UnionLoop, UnionLoopRef",
    why=Refusal(
        "a recursive query: which pass a row stems from is not kept", "write each pass from a loop of the script"
    ),
)
