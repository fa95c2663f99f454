"""Typed functions over groups."""

from provspark.tracker.families.contract import Family, Refusal

FAMILY = Family(
    refused="AppendColumns, AppendColumnsWithObject, CoGroup, FlatMapGroupsInR, FlatMapGroupsInRWithArrow, MapGroups",
    why=Refusal(
        "typed functions over groups (Scala and Java) receive objects instead of rows",
        "group with SQL functions or applyInPandas",
    ),
)
