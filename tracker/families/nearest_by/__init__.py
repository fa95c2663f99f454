"""Joins with the nearest rows of the other side."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="NearestByJoin (from 4.2)",
    why=Refusal(
        "a choice of several nearest rows", "join on a range, rank the rows by a window and keep the first ones"
    ),
)
